rule toy:
    input:
        stage_target("toy"),


rule toy_shard:
    input:
        release=unit_file("release", "manifest.json"),
    output:
        words="<results>/toy/{version}/{shard}.tsv",
        record="<results>/toy/{version}/{shard}.json",
    params:
        config=unit_config("toy"),
        folder=unit_folder("release"),
        shards=len(EARLY),
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
        "python -m workflow_scripts.toy.shard --config {params.config:q}"
        " --folder {params.folder:q} --shards {params.shards}"
        " --output {output.words:q} 2>&1 | tee {log:q}"
