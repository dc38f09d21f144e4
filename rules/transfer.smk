rule transfer:
    input:
        stage_target("transfer"),


rule transfer_tasks:
    input:
        unpack(reads("transfer", "tasks")),
    output:
        sentences="<results>/transfer/tasks/{version}/sentences.parquet",
        record="<results>/transfer/tasks/{version}/sentences.json",
    params:
        command=command("transfer", "tasks"),
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
        run()


# The vectors and answers in work/ are no output: a job that was killed goes on from them.
rule transfer_test:
    input:
        unpack(reads("transfer", "test")),
    output:
        transfer="<results>/transfer/{representation}/{version}/transfer.json",
        record="<results>/transfer/{representation}/{version}/testing.json",
    params:
        command=command("transfer", "test"),
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
        run()
