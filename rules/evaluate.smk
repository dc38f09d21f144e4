rule evaluate:
    input:
        stage_target("evaluate"),


rule evaluate_measures:
    input:
        selected=unit_file("select", "manifest.json"),
        threshold=unit_file("select", "threshold.json"),
        scored=unit_file("score", "manifest.json"),
        trees=tree_manifest,
        model=pieces_file,
    output:
        measures="<results>/evaluate/{system}/{version}/measures.json",
        record="<results>/evaluate/{system}/{version}/evaluation.json",
    params:
        config=unit_config("evaluate"),
        selected=unit_folder("select"),
        scored=unit_folder("score"),
        model=pieces_folder,
        trees=tree_options,
        shards=len(LATE),
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
        "python -m workflow_scripts.stages.evaluate.measures --config {params.config:q}"
        " --folder {params.selected:q} --scored {params.scored:q} {params.trees:q} --shards {params.shards}"
        " --model {params.model:q} --threads {threads}"
        " --output {output.measures:q} 2>&1 | tee {log:q}"


# Only systems with variants have it.
rule evaluate_variants:
    input:
        scored=unit_file("score", "manifest.json"),
        model="<forward>/model.json",
    output:
        variants="<results>/evaluate/{system}/{version}/variants.json",
        record="<results>/evaluate/{system}/{version}/comparison.json",
    params:
        config=unit_config("evaluate"),
        scored=unit_folder("score"),
        model=unit_folder("train", "forward"),
        shards=len(LATE),
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
        "python -m workflow_scripts.stages.evaluate.variant_measures --config {params.config:q}"
        " --scored {params.scored:q} --shards {params.shards} --model {params.model:q}"
        " --threads {threads} --output {output.variants:q} 2>&1 | tee {log:q}"


# Only runs that score the references have it.
rule evaluate_bounds:
    input:
        scored=unit_file("score", "manifest.json"),
        references=unit_file("score", "manifest.json", "references"),
        threshold=unit_file("select", "threshold.json"),
    output:
        bounds="<results>/evaluate/{system}/{version}/bounds.json",
        record="<results>/evaluate/{system}/{version}/bounding.json",
    params:
        config=unit_config("evaluate"),
        scored=unit_folder("score"),
        references=unit_folder("score", "references"),
        shards=len(LATE),
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
        "python -m workflow_scripts.stages.evaluate.bounds --config {params.config:q}"
        " --scored {params.scored:q} --references {params.references:q} --shards {params.shards}"
        " --threshold {input.threshold:q} --output {output.bounds:q} 2>&1 | tee {log:q}"


# Only runs with a file of right answers have it. The file counts by its content, which names the
# folder; a later time alone is no reason to run.
rule evaluate_answers:
    input:
        selected=unit_file("select", "manifest.json"),
        answers=ancient(answers_file),
    output:
        answers="<results>/evaluate/{system}/{version}/answers.json",
        record="<results>/evaluate/{system}/{version}/answering.json",
    params:
        inputs=unit_inputs("evaluate"),
        folder=unit_folder("select"),
        shards=len(LATE),
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
        "python -m workflow_scripts.stages.evaluate.run_answers --answers {input.answers:q}"
        " --inputs {params.inputs:q} --folder {params.folder:q} --shards {params.shards}"
        " --output {output.answers:q} 2>&1 | tee {log:q}"


# Only runs with people's ratings have it. The file counts by its content, which names the folder.
rule evaluate_ratings:
    input:
        selected=unit_file("select", "manifest.json"),
        scored=unit_file("score", "manifest.json"),
        ratings=ancient(EVALUATE.ratings_files()),
    output:
        ratings="<results>/evaluate/{system}/{version}/ratings.json",
        record="<results>/evaluate/{system}/{version}/rating.json",
    params:
        config=unit_config("evaluate"),
        inputs=unit_inputs("evaluate"),
        selected=unit_folder("select"),
        scored=unit_folder("score"),
        shards=len(LATE),
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
        "python -m workflow_scripts.stages.evaluate.system_ratings --config {params.config:q}"
        " --folder {params.selected:q} --scored {params.scored:q} --shards {params.shards}"
        " --ratings {input.ratings:q}"
        " --inputs {params.inputs:q} --output {output.ratings:q} 2>&1 | tee {log:q}"


# A file of documents counts by its content, which names the folder.
rule evaluate_statistics:
    input:
        columns=statistics_manifests,
        documents=ancient(documents_file),
        trees=tree_manifest,
    output:
        statistics="<results>/evaluate/{system}/{version}/statistics.json",
        record="<results>/evaluate/{system}/{version}/counting.json",
    params:
        config=lambda wildcards: argument(EVALUATE.statistics_settings()),
        unit=unit_config("evaluate"),
        inputs=unit_inputs("evaluate"),
        documents=documents_options,
        folder=unit_folder("filter"),
        values=statistics_values,
        trees=tree_options,
        shards=len(LATE),
    log:
        "<results>/logs/evaluate/{system}/{version}/statistics.log",
    benchmark:
        "<results>/benchmarks/evaluate/{system}/{version}/statistics.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.evaluate.statistics --config {params.config:q}"
        " --folder {params.folder:q} --values {params.values:q} {params.trees:q} --shards {params.shards}"
        " {params.documents:q} --inputs {params.inputs:q} --output {output.statistics:q} 2>&1 | tee {log:q}"


# Only systems that a rewriter writes have it, if the run compares them with others.
rule evaluate_rewriting:
    input:
        scored=unit_file("score", "manifest.json"),
        bilingual=bilingual_manifests,
    output:
        rewriting="<results>/evaluate/{system}/{version}/rewriting.json",
        record="<results>/evaluate/{system}/{version}/pairing.json",
    params:
        config=unit_config("evaluate"),
        scored=unit_folder("score"),
        bilingual=bilingual_folders,
        shards=len(LATE),
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
        "python -m workflow_scripts.stages.evaluate.rewriting --config {params.config:q}"
        " --scored {params.scored:q} --bilingual {params.bilingual:q} --shards {params.shards}"
        " --device {resources.device} --output {output.rewriting:q} 2>&1 | tee {log:q}"
