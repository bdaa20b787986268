import click


@click.command()
@click.option("--depth", default=5, show_default=True, help="How many layers are listed.")
@click.option("--format", "output", default="table", help="table or json. [default: json]")
@click.option("--max-size", default="2GB", help="Layers above this size are skipped, 2 GB unless given.")
def inspect(depth, output, max_size):
    """Show the layers of an image.

    At most 10 layers are listed unless --depth says otherwise.
    """
