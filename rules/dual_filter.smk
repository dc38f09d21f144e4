rule dual_filter:
    input:
        stage_target("dual_filter"),


rule dual_filter_scores:
    input:
        unpack(reads("dual_filter", "scores")),
    output:
        scores="<results>/dual_filter/scores/{version}/{shard}.parquet",
        record="<results>/dual_filter/scores/{version}/{shard}.json",
    params:
        command=command("dual_filter", "scores"),
    log:
        "<results>/logs/dual_filter/scores/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/dual_filter/scores/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(600),
        device=COMPUTE["device"],
        batch_tokens=COMPUTE["batch_tokens"],
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "batch_tokens", "threads")


rule dual_filter_kept:
    input:
        unpack(reads("dual_filter", "kept")),
    output:
        pairs="<results>/dual_filter/kept/{version}/{shard}.parquet",
        record="<results>/dual_filter/kept/{version}/{shard}.json",
    params:
        command=command("dual_filter", "kept"),
    log:
        "<results>/logs/dual_filter/kept/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/dual_filter/kept/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    conda:
        "../envs/text.yaml"
    shell:
        run()
