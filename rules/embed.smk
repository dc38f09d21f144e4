rule embed:
    input:
        stage_target("embed"),


# Files count by their content, which names the folder; a later time alone is no reason to run.
rule embed_evaluation:
    input:
        ancient(sts_files),
    output:
        evaluation="<results>/embed/evaluation/{version}/evaluation.parquet",
        record="<results>/embed/evaluation/{version}/evaluation.json",
    params:
        config=unit_config("embed", "evaluation"),
        inputs=unit_inputs("embed", "evaluation"),
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
        "python -m workflow_scripts.stages.embed.evaluation --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --output {output.evaluation:q} 2>&1 | tee {log:q}"


# The checkpoints in work/ are no output: Snakemake deletes outputs before a job starts again, and
# training must go on from where it was killed.
rule embed_train:
    input:
        ancient(embedding_files),
        pairs=training_pairs,
        evaluation=unit_file("embed", "evaluation.parquet", "evaluation"),
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
        config=unit_config("embed"),
        inputs=unit_inputs("embed"),
        folder=unit_folder("embed"),
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
        "python -m workflow_scripts.stages.embed.train --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --pairs {input.pairs:q} --evaluation {input.evaluation:q}"
        " --work {params.folder:q}/work --device {resources.device} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule embed_sts:
    input:
        evaluation=unit_file("embed", "evaluation.parquet", "evaluation"),
        models=[f"{each.partition('=')[2]}/model.json" for each in embedding_models()],
    output:
        sts="<results>/embed/sts/{version}/sts.json",
        record="<results>/embed/sts/{version}/testing.json",
    params:
        config=unit_config("embed", "sts"),
        models=embedding_models(),
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
        "python -m workflow_scripts.stages.embed.sts_comparison --config {params.config:q}"
        " --evaluation {input.evaluation:q} --models {params.models:q}"
        " --output {output.sts:q} 2>&1 | tee {log:q}"
