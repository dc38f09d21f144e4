rule dual_filter:
    input:
        stage_target("dual_filter"),


rule dual_filter_scores:
    input:
        pairs="<clean>/{shard}.parquet",
        forward=unit_file("train", "model.json", "filter_forward"),
        backward=unit_file("train", "model.json", "filter_backward"),
    output:
        scores="<results>/dual_filter/scores/{version}/{shard}.parquet",
        record="<results>/dual_filter/scores/{version}/{shard}.json",
    params:
        config=unit_config("dual_filter", "scores"),
        forward=unit_folder("train", "filter_forward"),
        backward=unit_folder("train", "filter_backward"),
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
        "python -m workflow_scripts.stages.dual_filter.pair_scores --config {params.config:q}"
        " --input {input.pairs:q} --forward {params.forward:q} --backward {params.backward:q}"
        " --device {resources.device} --batch-tokens {resources.batch_tokens}"
        " --threads {threads} --output {output.scores:q} 2>&1 | tee {log:q}"


rule dual_filter_kept:
    input:
        pairs="<clean>/{shard}.parquet",
        scores=unit_file("dual_filter", "{shard}.parquet", "scores"),
    output:
        pairs="<results>/dual_filter/kept/{version}/{shard}.parquet",
        record="<results>/dual_filter/kept/{version}/{shard}.json",
    params:
        config=unit_config("dual_filter", "kept"),
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
        "python -m workflow_scripts.stages.dual_filter.keep --config {params.config:q}"
        " --input {input.pairs:q} --scores {input.scores:q}"
        " --output {output.pairs:q} 2>&1 | tee {log:q}"
