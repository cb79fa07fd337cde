"""A project folder and its configuration, `treeglot.toml`."""

from treeglot.pipeline.config import ProjectConfig, load_config

__all__ = ["ProjectConfig", "load_config"]
