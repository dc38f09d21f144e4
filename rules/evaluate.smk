rule evaluate:
    input:
        stage_target("evaluate"),


rule evaluate_measures:
    input:
        unpack(reads("evaluate", "measures")),
    output:
        measures="<results>/evaluate/{system}/{version}/measures.json",
        record="<results>/evaluate/{system}/{version}/evaluation.json",
    params:
        command=command("evaluate", "measures"),
    log:
        "<results>/logs/evaluate/{system}/{version}/measures.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/measures.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
    conda:
        "../envs/text.yaml"
    shell:
        run("threads")


# Only systems with variants have it.
rule evaluate_variants:
    input:
        unpack(reads("evaluate", "variants")),
    output:
        variants="<results>/evaluate/{system}/{version}/variants.json",
        record="<results>/evaluate/{system}/{version}/comparison.json",
    params:
        command=command("evaluate", "variants"),
    log:
        "<results>/logs/evaluate/{system}/{version}/variants.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/variants.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
    conda:
        "../envs/text.yaml"
    shell:
        run("threads")


# Only runs that score the references have it.
rule evaluate_bounds:
    input:
        unpack(reads("evaluate", "bounds")),
    output:
        bounds="<results>/evaluate/{system}/{version}/bounds.json",
        record="<results>/evaluate/{system}/{version}/bounding.json",
    params:
        command=command("evaluate", "bounds"),
    log:
        "<results>/logs/evaluate/{system}/{version}/bounds.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/bounds.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()


# Only runs with a file of right answers have it.
rule evaluate_answers:
    input:
        unpack(reads("evaluate", "answers")),
    output:
        answers="<results>/evaluate/{system}/{version}/answers.json",
        record="<results>/evaluate/{system}/{version}/answering.json",
    params:
        command=command("evaluate", "answers"),
    log:
        "<results>/logs/evaluate/{system}/{version}/answers.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/answers.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()


# Only runs with people's ratings have it.
rule evaluate_ratings:
    input:
        unpack(reads("evaluate", "ratings")),
    output:
        ratings="<results>/evaluate/{system}/{version}/ratings.json",
        record="<results>/evaluate/{system}/{version}/rating.json",
    params:
        command=command("evaluate", "ratings"),
    log:
        "<results>/logs/evaluate/{system}/{version}/ratings.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/ratings.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule evaluate_statistics:
    input:
        unpack(reads("evaluate", "statistics")),
    output:
        statistics="<results>/evaluate/{system}/{version}/statistics.json",
        record="<results>/evaluate/{system}/{version}/counting.json",
    params:
        command=command("evaluate", "statistics"),
    log:
        "<results>/logs/evaluate/{system}/{version}/statistics.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/statistics.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    conda:
        "../envs/embed.yaml"
    shell:
        run()


# Only systems that a rewriter writes have it, if the run compares them with others.
rule evaluate_rewriting:
    input:
        unpack(reads("evaluate", "rewriting")),
    output:
        rewriting="<results>/evaluate/{system}/{version}/rewriting.json",
        record="<results>/evaluate/{system}/{version}/pairing.json",
    params:
        command=command("evaluate", "rewriting"),
    log:
        "<results>/logs/evaluate/{system}/{version}/rewriting.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/rewriting.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        run("device")
