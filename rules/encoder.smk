rule encoder:
    input:
        stage_target("encoder"),


rule encoder_pairs:
    input:
        ancient(encoder_left_out_files("-pairs")),
        pairs=encoder_training_pairs,
        embedding=encoder_embedding_model,
        evaluation=unit_file("embed", "evaluation.parquet", "evaluation"),
    output:
        train="<results>/encoder/{encoder}-pairs/{version}/train.parquet",
        dev="<results>/encoder/{encoder}-pairs/{version}/dev.parquet",
        record="<results>/encoder/{encoder}-pairs/{version}/pairs.json",
    params:
        config=unit_config("encoder", "{encoder}-pairs"),
        inputs=unit_inputs("encoder", "{encoder}-pairs"),
        embedding=encoder_embedding_folder,
        folder=unit_folder("encoder", "{encoder}-pairs"),
    log:
        "<results>/logs/encoder/{encoder}-pairs/{version}.log",
    benchmark:
        "<results>/benchmarks/encoder/{encoder}-pairs/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(480),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.encoder.identification_pairs --config {params.config:q}"
        " --inputs {params.inputs:q} --pairs {input.pairs:q} --evaluation {input.evaluation:q}"
        " --embedding {params.embedding:q} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


# The checkpoints in work/ are no output: Snakemake deletes outputs before a job starts again, and
# training must go on from where it was killed.
rule encoder_scratch:
    input:
        ancient(encoder_left_out_files("-scratch")),
        pairs="<pairs>/manifest.json",
        evaluation=unit_file("embed", "evaluation.parquet", "evaluation"),
    output:
        multiext(
            "<results>/encoder/{encoder}-scratch/{version}/",
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "metrics.json",
            "model.json",
        ),
    params:
        config=unit_config("encoder", "{encoder}-scratch"),
        inputs=unit_inputs("encoder", "{encoder}-scratch"),
        pairs=unit_folder(*PAIRS),
        shards=len(EARLY),
        folder=unit_folder("encoder", "{encoder}-scratch"),
    log:
        "<results>/logs/encoder/{encoder}-scratch/{version}.log",
    benchmark:
        "<results>/benchmarks/encoder/{encoder}-scratch/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.encoder.masked --config {params.config:q}"
        " --inputs {params.inputs:q} --folder {params.pairs:q} --shards {params.shards}"
        " --evaluation {input.evaluation:q}"
        " --work {params.folder:q}/work --device {resources.device} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


# The files of an encoder count by their content, which names the folder.
rule encoder_tune:
    input:
        ancient(encoder_base),
        pairs=unit_file("encoder", "pairs.json", "{encoder}-pairs"),
        scratch=encoder_scratch_model,
    output:
        multiext(
            "<results>/encoder/{encoder}/{version}/",
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "metrics.json",
            "model.json",
        ),
    params:
        config=unit_config("encoder"),
        inputs=unit_inputs("encoder"),
        pairs=unit_folder("encoder", "{encoder}-pairs"),
        base=encoder_base_options,
        folder=unit_folder("encoder"),
    log:
        "<results>/logs/encoder/{encoder}/{version}.log",
    benchmark:
        "<results>/benchmarks/encoder/{encoder}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.encoder.identify --config {params.config:q}"
        " --inputs {params.inputs:q} {params.base:q} --pairs {params.pairs:q}"
        " --work {params.folder:q}/work --device {resources.device} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


# One tuning, in one job: what it keeps in work/ is no output, as above.
rule encoder_task:
    input:
        ancient(encoder_base),
        ancient(encoder_task_files),
        model=encoder_state_model,
    output:
        answers="<results>/encoder/{encoder}-tasks/{version}/{encoder_task}-{encoder_state}-{encoder_seed}.jsonl",
        record="<results>/encoder/{encoder}-tasks/{version}/{encoder_task}-{encoder_state}-{encoder_seed}.json",
    params:
        config=unit_config("encoder", "{encoder}-tasks"),
        inputs=unit_inputs("encoder", "{encoder}-tasks"),
        encoder=encoder_state_options,
        data=encoder_task_folder,
    log:
        "<results>/logs/encoder/{encoder}-tasks/{version}/{encoder_task}-{encoder_state}-{encoder_seed}.log",
    benchmark:
        "<results>/benchmarks/encoder/{encoder}-tasks/{version}/{encoder_task}-{encoder_state}-{encoder_seed}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.encoder.tasks.tuning --config {params.config:q}"
        " --inputs {params.inputs:q} {params.encoder:q} --task {wildcards.encoder_task:q}"
        " --data {params.data:q} --seed {wildcards.encoder_seed:q}"
        " --device {resources.device} --threads {threads}"
        " --output {output.answers:q} 2>&1 | tee {log:q}"


rule encoder_tasks:
    input:
        plain=encoder_answers(PLAIN_STATE),
        tuned=encoder_answers(TUNED_STATE),
    output:
        tasks="<results>/encoder/{encoder}-comparison/{version}/tasks.json",
        record="<results>/encoder/{encoder}-comparison/{version}/comparison.json",
    params:
        config=unit_config("encoder", "{encoder}-comparison"),
    log:
        "<results>/logs/encoder/{encoder}-comparison/{version}/comparison.log",
    benchmark:
        "<results>/benchmarks/encoder/{encoder}-comparison/{version}/comparison.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.encoder.tasks.comparison --config {params.config:q}"
        " --plain {input.plain:q} --tuned {input.tuned:q}"
        " --output {output.tasks:q} 2>&1 | tee {log:q}"
