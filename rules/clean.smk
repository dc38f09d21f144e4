rule clean:
    input:
        stage_target("clean"),


rule clean_shard:
    input:
        unpack(reads("clean", "shard")),
    output:
        pairs="<results>/clean/{version}/{shard}.parquet",
        record="<results>/clean/{version}/{shard}.json",
        rejected="<results>/clean/{version}/rejected/{shard}.tsv.zst",
        rejected_record="<results>/clean/{version}/rejected/{shard}.tsv.json",
    params:
        command=command("clean", "shard"),
    log:
        "<results>/logs/clean/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/clean/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()
