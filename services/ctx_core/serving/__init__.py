"""Serving tools over MCP: Streamable HTTP, SSE and stdio, with health, limits and toolsets."""
