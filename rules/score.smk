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
        "python -m workflow_scripts.stages.score.reference_scores --config {params.config:q}"
        " --input {input.references:q} --forward {params.forward:q} --backward {params.backward:q}"
        " --device {resources.device} --batch-tokens {resources.batch_tokens} --threads {threads}"
        " --output {output.scores:q} 2>&1 | tee {log:q}"


rule score_shard:
    input:
        candidates=unit_file("generate", "{shard}.parquet", "{searched}"),
        model="<backward>/model.json",
    output:
        scored="<results>/score/{searched}/{version}/{shard}.parquet",
        record="<results>/score/{searched}/{version}/{shard}.json",
    params:
        config=unit_config("score", "{searched}"),
        model=unit_folder("train", "backward"),
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
        "python -m workflow_scripts.stages.score.shard --config {params.config:q}"
        " --input {input.candidates:q} --model {params.model:q}"
        " --device {resources.device} --batch-tokens {resources.batch_tokens} --threads {threads}"
        " --output {output.scored:q} 2>&1 | tee {log:q}"


# What other runs selected counts by its content, which names the folder; a later time alone is no
# reason to run.
rule score_merge:
    input:
        selected=ancient(merged_files),
    output:
        scored="<results>/score/{merge}/{version}/{shard}.parquet",
        record="<results>/score/{merge}/{version}/{shard}.json",
    params:
        config=unit_config("score", "{merge}"),
        inputs=unit_inputs("score", "{merge}"),
        shard=lambda wildcards: int(wildcards.shard),
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
        "python -m workflow_scripts.stages.score.merge --config {params.config:q} --inputs {params.inputs:q}"
        " --shard {params.shard:q} --output {output.scored:q} 2>&1 | tee {log:q}"


rule score_merge_pieces:
    input:
        selected=ancient(merged_files),
    output:
        pieces="<results>/score/{merge}/{version}/reference.model",
        record="<results>/score/{merge}/{version}/model.json",
    params:
        config=unit_config("score", "{merge}"),
        inputs=unit_inputs("score", "{merge}"),
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
        "python -m workflow_scripts.stages.score.merge --config {params.config:q} --inputs {params.inputs:q}"
        " --output {output.pieces:q} 2>&1 | tee {log:q}"
