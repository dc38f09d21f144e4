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
        "python -m workflow_scripts.release.export --config {params.config:q}"
        " --folder {params.selected:q} --shards {params.shards}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule release_datasheet:
    input:
        manifests=system_manifests,
        measures=unit_file("evaluate", "measures.json"),
        metrics=[f"{LAYOUT.folder('train', role)}/metrics.json" for role in ROLES],
        export="<results>/release/{version}/{system}/paraphrases.json",
    output:
        datasheet="<results>/release/{version}/{system}/README.md",
    params:
        config=system_release_config,
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
        "python -m workflow_scripts.release.datasheet --config {params.config:q}"
        " --manifests {input.manifests:q} --measures {input.measures:q}"
        " --models {input.metrics:q} --output {output.datasheet:q} 2>&1 | tee {log:q}"


rule release_checksums:
    input:
        "<results>/release/{version}/{system}/paraphrases.tsv.zst",
        "<results>/release/{version}/{system}/paraphrases.parquet",
        "<results>/release/{version}/{system}/README.md",
    output:
        "<results>/release/{version}/{system}/SHA256SUMS",
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
        "python -m workflow_scripts.release.checksums --files {input:q}"
        " --output {output:q} 2>&1 | tee {log:q}"


rule release_tables:
    input:
        tested=[manifest_path(unit) for unit in tested_units(config)],
        measures=[f"{LAYOUT.folder('evaluate', system)}/measures.json" for system in SYSTEMS],
        statistics=[f"{LAYOUT.folder('evaluate', system)}/statistics.json" for system in SYSTEMS],
        sts=embedding_test,
    output:
        tables=[f"<results>/release/{{version}}/tables/{name}.tsv" for name in RELEASE.tables()],
        record="<results>/release/{version}/tables/tables.json",
    params:
        config=unit_config("release"),
        measures=[f"{each}/measures.json" for each in of_systems("evaluate")],
        statistics=[f"{each}/statistics.json" for each in of_systems("evaluate")],
        tested=tested_options,
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
        "python -m workflow_scripts.release.tables --config {params.config:q}"
        " --measures {params.measures:q} --statistics {params.statistics:q} {params.tested:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule release_report:
    input:
        manifests=[manifest_path(unit) for unit in LAYOUT.released_units()],
        tested=[manifest_path(unit) for unit in tested_units(config)],
        measures=[f"{LAYOUT.folder('evaluate', system)}/measures.json" for system in SYSTEMS],
        statistics=[f"{LAYOUT.folder('evaluate', system)}/statistics.json" for system in SYSTEMS],
        sts=embedding_test,
        models=[f"{LAYOUT.folder('train', role)}/learning_curve.tsv" for role in ROLES],
    output:
        report="<results>/release/{version}/report.html",
    params:
        config=unit_config("release"),
        measures=[f"{each}/measures.json" for each in of_systems("evaluate")],
        statistics=[f"{each}/statistics.json" for each in of_systems("evaluate")],
        tested=tested_options,
        models=[f"{role}={LAYOUT.folder('train', role)}" for role in ROLES],
        selected=of_systems("select"),
        shards=len(LATE),
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
        "python -m workflow_scripts.release.report --config {params.config:q}"
        " --manifests {input.manifests:q} --measures {params.measures:q}"
        " --statistics {params.statistics:q} {params.tested:q} --models {params.models:q}"
        " --selected {params.selected:q} --shards {params.shards}"
        " --output {output.report:q} 2>&1 | tee {log:q}"
