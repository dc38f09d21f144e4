rule score:
    input:
        stage_target("score"),


rule score_references:
    input:
        unpack(reads("score", "references")),
    output:
        scores="<results>/score/references/{version}/{shard}.parquet",
        record="<results>/score/references/{version}/{shard}.json",
    params:
        command=command("score", "references"),
    log:
        "<results>/logs/score/references/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/score/references/{version}/{shard}.tsv"
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


rule score_shard:
    input:
        unpack(reads("score", "shard")),
    output:
        scored="<results>/score/{searched}/{version}/{shard}.parquet",
        record="<results>/score/{searched}/{version}/{shard}.json",
    params:
        command=command("score", "shard"),
    log:
        "<results>/logs/score/{searched}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/score/{searched}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(1440),
        device=COMPUTE["device"],
        batch_tokens=COMPUTE["batch_tokens"],
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "batch_tokens", "threads")


rule score_merge:
    input:
        unpack(reads("score", "merge")),
    output:
        scored="<results>/score/{merge}/{version}/{shard}.parquet",
        record="<results>/score/{merge}/{version}/{shard}.json",
    params:
        command=command("score", "merge"),
    log:
        "<results>/logs/score/{merge}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/score/{merge}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule score_merge_pieces:
    input:
        unpack(reads("score", "merge_pieces")),
    output:
        pieces="<results>/score/{merge}/{version}/reference.model",
        record="<results>/score/{merge}/{version}/model.json",
    params:
        command=command("score", "merge_pieces"),
    log:
        "<results>/logs/score/{merge}/{version}/pieces.log",
    benchmark:
        "<results>/benchmarks/score/{merge}/{version}/pieces.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    conda:
        "../envs/text.yaml"
    shell:
        run()
