rule release:
    input:
        stage_target("release"),


rule release_export:
    input:
        selected=unit_file("select", "manifest.json"),
    output:
        tsv="<results>/release/{version}/{system}/paraphrases.tsv.zst",
        parquet="<results>/release/{version}/{system}/paraphrases.parquet",
        record="<results>/release/{version}/{system}/paraphrases.json",
    params:
        config=system_release_config,
        selected=unit_folder("select"),
        shards=len(LATE),
        folder=lambda wildcards: f"{LAYOUT.folder('release')}/{wildcards.system}",
    log:
        "<results>/logs/release/{version}/{system}/export.log",
    benchmark:
        "<results>/benchmarks/release/{version}/{system}/export.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.release.export --config {params.config:q}"
        " --folder {params.selected:q} --shards {params.shards}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule release_datasheet:
    input:
        units=system_manifests,
        export="<results>/release/{version}/{system}/paraphrases.json",
    output:
        datasheet="<results>/release/{version}/{system}/README.md",
        record="<results>/release/{version}/{system}/README.json",
    params:
        config=system_release_config,
        units=system_units,
        rows=canonical(RELEASE.rows()),
    log:
        "<results>/logs/release/{version}/{system}/datasheet.log",
    benchmark:
        "<results>/benchmarks/release/{version}/{system}/datasheet.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.release.datasheet --config {params.config:q}"
        " --units {params.units:q} --rows {params.rows:q}"
        " --output {output.datasheet:q} 2>&1 | tee {log:q}"


rule release_checksums:
    input:
        "<results>/release/{version}/{system}/paraphrases.tsv.zst",
        "<results>/release/{version}/{system}/paraphrases.parquet",
        "<results>/release/{version}/{system}/README.md",
    output:
        "<results>/release/{version}/{system}/SHA256SUMS",
    params:
        folder=lambda wildcards: f"{LAYOUT.folder('release')}/{wildcards.system}",
    log:
        "<results>/logs/release/{version}/{system}/checksums.log",
    benchmark:
        "<results>/benchmarks/release/{version}/{system}/checksums.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.release.checksums"
        " --records {params.folder:q}/paraphrases.json {params.folder:q}/README.json"
        " --output {output:q} 2>&1 | tee {log:q}"


rule release_tables:
    input:
        units=unit_manifests(RELEASE.reads(None)),
    output:
        tables=[f"<results>/release/{{version}}/tables/{each}.tsv" for each in TABLES],
        record="<results>/release/{version}/tables/tables.json",
    params:
        config=unit_config("release"),
        units=release_units,
        tables=[f"{name}={function}" for name, function in TABLES.items()],
        folder=f"{LAYOUT.folder('release')}/tables",
    log:
        "<results>/logs/release/{version}/tables.log",
    benchmark:
        "<results>/benchmarks/release/{version}/tables.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.release.tables --config {params.config:q}"
        " --units {params.units:q} --tables {params.tables:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule release_report:
    input:
        units=unit_manifests(RELEASE.reads(None)),
    output:
        report="<results>/release/{version}/report.html",
    params:
        config=unit_config("release"),
        units=release_units,
        rows=canonical(RELEASE.rows()),
        sections=RELEASE.page_sections(),
    log:
        "<results>/logs/release/{version}/report.log",
    benchmark:
        "<results>/benchmarks/release/{version}/report.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.release.report --config {params.config:q}"
        " --units {params.units:q} --rows {params.rows:q} --sections {params.sections:q}"
        " --output {output.report:q} 2>&1 | tee {log:q}"
