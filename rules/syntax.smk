rule syntax:
    input:
        stage_target("syntax"),


rule syntax_shard:
    input:
        paraphrases=unit_file("select", "{shard}.parquet"),
    output:
        trees="<results>/syntax/{system}/{version}/{shard}.parquet",
        record="<results>/syntax/{system}/{version}/{shard}.json",
    params:
        config=unit_config("syntax"),
        inputs=unit_inputs("syntax"),
    log:
        "<results>/logs/syntax/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/syntax/{system}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/syntax.yaml"
    shell:
        "python -m workflow_scripts.stages.syntax.shard --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --input {input.paraphrases:q} --device {resources.device} --threads {threads}"
        " --output {output.trees:q} 2>&1 | tee {log:q}"
