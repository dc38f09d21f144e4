rule toy:
    input:
        stage_target("toy"),


rule toy_shard:
    input:
        unpack(reads("toy", "shard")),
    output:
        words="<results>/toy/{version}/{shard}.tsv",
        record="<results>/toy/{version}/{shard}.json",
    params:
        command=command("toy", "shard"),
    log:
        "<results>/logs/toy/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/toy/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
    conda:
        "../envs/text.yaml"
    shell:
        run()
