rule encoder:
    input:
        stage_target("encoder"),


rule encoder_pairs:
    input:
        unpack(reads("encoder", "pairs")),
    output:
        train="<results>/encoder/{encoder}-pairs/{version}/train.parquet",
        dev="<results>/encoder/{encoder}-pairs/{version}/dev.parquet",
        record="<results>/encoder/{encoder}-pairs/{version}/pairs.json",
    params:
        command=command("encoder", "pairs"),
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
        run("threads")


# The checkpoints in work/ are no output: Snakemake deletes outputs before a job starts again, and
# training must go on from where it was killed.
rule encoder_scratch:
    input:
        unpack(reads("encoder", "scratch")),
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
        command=command("encoder", "scratch"),
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
        run("device", "threads")


rule encoder_tune:
    input:
        unpack(reads("encoder", "tune")),
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
        command=command("encoder", "tune"),
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
        run("device", "threads")


# One tuning, in one job: what it keeps in work/ is no output, as above.
rule encoder_task:
    input:
        unpack(reads("encoder", "task")),
    output:
        answers="<results>/encoder/{encoder}-tasks/{version}/{encoder_task}-{encoder_state}-{encoder_seed}.jsonl",
        record="<results>/encoder/{encoder}-tasks/{version}/{encoder_task}-{encoder_state}-{encoder_seed}.json",
    params:
        command=command("encoder", "task"),
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
        run("device", "threads")


rule encoder_tasks:
    input:
        unpack(reads("encoder", "tasks")),
    output:
        tasks="<results>/encoder/{encoder}-comparison/{version}/tasks.json",
        record="<results>/encoder/{encoder}-comparison/{version}/comparison.json",
    params:
        command=command("encoder", "tasks"),
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
        run()
