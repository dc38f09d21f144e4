rule release:
    input:
        stage_target("release"),


rule release_export:
    input:
        unpack(reads("release", "export")),
    output:
        tsv="<results>/release/{version}/{system}/paraphrases.tsv.zst",
        parquet="<results>/release/{version}/{system}/paraphrases.parquet",
        record="<results>/release/{version}/{system}/paraphrases.json",
    params:
        command=command("release", "export"),
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
        run()


rule release_datasheet:
    input:
        unpack(reads("release", "datasheet")),
    output:
        datasheet="<results>/release/{version}/{system}/README.md",
        record="<results>/release/{version}/{system}/README.json",
    params:
        command=command("release", "datasheet"),
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
        run()


rule release_checksums:
    input:
        unpack(reads("release", "checksums")),
    output:
        "<results>/release/{version}/{system}/SHA256SUMS",
    params:
        command=command("release", "checksums"),
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
        run()


rule release_tables:
    input:
        unpack(reads("release", "tables")),
    output:
        tables=[
            f"<results>/release/{{version}}/tables/{table}.tsv"
            for table in LAYOUT.declaration("release").released_tables()
        ],
        record="<results>/release/{version}/tables/tables.json",
    params:
        command=command("release", "tables"),
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
        run()


rule release_report:
    input:
        unpack(reads("release", "report")),
    output:
        report="<results>/release/{version}/report.html",
    params:
        command=command("release", "report"),
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
        run()
