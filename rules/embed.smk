rule embed:
    input:
        stage_target("embed"),


rule embed_evaluation:
    input:
        unpack(reads("embed", "evaluation")),
    output:
        evaluation="<results>/embed/evaluation/{version}/evaluation.parquet",
        record="<results>/embed/evaluation/{version}/evaluation.json",
    params:
        command=command("embed", "evaluation"),
    log:
        "<results>/logs/embed/evaluation/{version}.log",
    benchmark:
        "<results>/benchmarks/embed/evaluation/{version}.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    conda:
        "../envs/embed.yaml"
    shell:
        run()


# The checkpoints in work/ are no output: Snakemake deletes outputs before a job starts again, and
# training must go on from where it was killed.
rule embed_train:
    input:
        unpack(reads("embed", "train")),
    output:
        multiext(
            "<results>/embed/{embedding}/{version}/",
            "embedding.json",
            "model.safetensors",
            "untrained.safetensors",
            "modules.json",
            "model.json",
        ),
    params:
        command=command("embed", "train"),
    log:
        "<results>/logs/embed/{embedding}/{version}.log",
    benchmark:
        "<results>/benchmarks/embed/{embedding}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        run("device", "threads")


rule embed_sts:
    input:
        unpack(reads("embed", "sts")),
    output:
        sts="<results>/embed/sts/{version}/sts.json",
        record="<results>/embed/sts/{version}/testing.json",
    params:
        command=command("embed", "sts"),
    log:
        "<results>/logs/embed/sts/{version}.log",
    benchmark:
        "<results>/benchmarks/embed/sts/{version}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    conda:
        "../envs/embed.yaml"
    shell:
        run()
