rule syntax:
    input:
        stage_target("syntax"),


rule syntax_shard:
    input:
        unpack(reads("syntax", "shard")),
    output:
        trees="<results>/syntax/{system}/{version}/{shard}.parquet",
        record="<results>/syntax/{system}/{version}/{shard}.json",
    params:
        command=command("syntax", "shard"),
    log:
        "<results>/logs/syntax/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/syntax/{system}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/syntax.yaml"
    shell:
        run("device", "threads")
