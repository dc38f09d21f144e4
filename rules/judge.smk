rule judge:
    input:
        stage_target("judge"),


rule judge_grammar:
    input:
        pairs="<pairs>/manifest.json",
    output:
        multiext(
            "<results>/judge/run-grammar/{version}/",
            "grammar.json",
            "grammar.safetensors",
            "model.json",
        ),
    params:
        config=unit_config("judge", "run-grammar"),
        pairs=unit_folder(*PAIRS),
        shards=len(EARLY),
        folder=unit_folder("judge", "run-grammar"),
        language=config["languages"]["reference"]["code"],
    log:
        "<results>/logs/judge/run-grammar/{version}/model.log",
    benchmark:
        "<results>/benchmarks/judge/run-grammar/{version}/model.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.judge.grammar.train --config {params.config:q}"
        " --folder {params.pairs:q} --shards {params.shards} --language {params.language:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


# The user's files count by their content, which names the folder; a later time alone is no reason to
# run.
rule judge_fit:
    input:
        ancient(judge_files),
        units=judge_units,
    output:
        judge="<results>/judge/{fitted}/{version}/judge.json",
        record="<results>/judge/{fitted}/{version}/fitting.json",
    params:
        config=unit_config("judge", "{fitted}"),
        inputs=unit_inputs("judge", "{fitted}"),
        options=judge_options,
    log:
        "<results>/logs/judge/{fitted}/{version}/judge.log",
    benchmark:
        "<results>/benchmarks/judge/{fitted}/{version}/judge.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
        device=COMPUTE["device"],
        batch_tokens=COMPUTE["batch_tokens"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.judge.fit_run --config {params.config:q}"
        " --inputs {params.inputs:q} {params.options:q}"
        " --device {resources.device} --batch-tokens {resources.batch_tokens} --threads {threads}"
        " --output {output.judge:q} 2>&1 | tee {log:q}"


# The same holds for these.
rule judge_shard:
    input:
        ancient(judge_files),
        units=judge_units,
        scored=unit_file("score", "{shard}.parquet"),
    output:
        judged="<results>/judge/{system}/{version}/{shard}.parquet",
        record="<results>/judge/{system}/{version}/{shard}.json",
    params:
        config=unit_config("judge"),
        inputs=unit_inputs("judge"),
        options=judge_options,
    log:
        "<results>/logs/judge/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/judge/{system}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(1440),
        device=COMPUTE["device"],
        batch_tokens=COMPUTE["batch_tokens"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.judge.shard --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --input {input.scored:q} {params.options:q}"
        " --device {resources.device} --batch-tokens {resources.batch_tokens} --threads {threads}"
        " --output {output.judged:q} 2>&1 | tee {log:q}"
