rule transfer:
    input:
        stage_target("transfer"),


rule transfer_tasks:
    input:
        ancient(transfer_files),
    output:
        sentences="<results>/transfer/tasks/{version}/sentences.parquet",
        record="<results>/transfer/tasks/{version}/sentences.json",
    params:
        config=unit_config("transfer", "tasks"),
        inputs=unit_inputs("transfer", "tasks"),
    log:
        "<results>/logs/transfer/tasks/{version}.log",
    benchmark:
        "<results>/benchmarks/transfer/tasks/{version}.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.transfer.collect --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --output {output.sentences:q} 2>&1 | tee {log:q}"


# The vectors and answers in work/ are no output: a job that was killed goes on from them.
rule transfer_test:
    input:
        ancient(representation_files),
        model=representation_model,
        sentences=unit_file("transfer", "sentences.parquet", "tasks"),
    output:
        transfer="<results>/transfer/{representation}/{version}/transfer.json",
        record="<results>/transfer/{representation}/{version}/testing.json",
    params:
        config=unit_config("transfer"),
        inputs=unit_inputs("transfer"),
        options=representation_options,
        folder=unit_folder("transfer"),
    log:
        "<results>/logs/transfer/{representation}/{version}.log",
    benchmark:
        "<results>/benchmarks/transfer/{representation}/{version}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.transfer.represented --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --tasks {input.sentences:q} {params.options:q} --work {params.folder:q}/work"
        " --output {output.transfer:q} 2>&1 | tee {log:q}"
