rule score:
    input:
        stage_target("score"),


rule score_references:
    input:
        references="<references>/{shard}.parquet",
        forward="<forward>/model.json",
        backward="<backward>/model.json",
    output:
        scores="<results>/score/references/{version}/{shard}.parquet",
        record="<results>/score/references/{version}/{shard}.json",
    params:
        config=unit_config("score", "references"),
        forward=unit_folder("train", "forward"),
        backward=unit_folder("train", "backward"),
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
        "python -m workflow_scripts.score.references --config {params.config:q}"
        " --input {input.references:q} --forward {params.forward:q} --backward {params.backward:q}"
        " --device {resources.device} --batch-tokens {resources.batch_tokens} --threads {threads}"
        " --output {output.scores:q} 2>&1 | tee {log:q}"


rule score_shard:
    input:
        candidates=unit_file("generate", "{shard}.parquet"),
        model="<backward>/model.json",
    output:
        scored="<results>/score/{system}/{version}/{shard}.parquet",
        record="<results>/score/{system}/{version}/{shard}.json",
    params:
        config=unit_config("score"),
        model=unit_folder("train", "backward"),
    log:
        "<results>/logs/score/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/score/{system}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(1440),
        device=COMPUTE["device"],
        batch_tokens=COMPUTE["batch_tokens"],
    conda:
        "../envs/nmt.yaml"
    shell:
        "python -m workflow_scripts.score.shard --config {params.config:q}"
        " --input {input.candidates:q} --model {params.model:q}"
        " --device {resources.device} --batch-tokens {resources.batch_tokens} --threads {threads}"
        " --output {output.scored:q} 2>&1 | tee {log:q}"
