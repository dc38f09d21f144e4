rule judge:
    input:
        stage_target("judge"),


rule judge_grammar:
    input:
        unpack(reads("judge", "grammar")),
    output:
        multiext(
            "<results>/judge/run-grammar/{version}/",
            "grammar.json",
            "grammar.safetensors",
            "model.json",
        ),
    params:
        command=command("judge", "grammar"),
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
        run()


rule judge_fit:
    input:
        unpack(reads("judge", "fit")),
    output:
        judge="<results>/judge/{fitted}/{version}/judge.json",
        record="<results>/judge/{fitted}/{version}/fitting.json",
    params:
        command=command("judge", "fit"),
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
        run("device", "batch_tokens", "threads")


rule judge_shard:
    input:
        unpack(reads("judge", "shard")),
    output:
        judged="<results>/judge/{system}/{version}/{shard}.parquet",
        record="<results>/judge/{system}/{version}/{shard}.json",
    params:
        command=command("judge", "shard"),
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
        run("device", "batch_tokens", "threads")
