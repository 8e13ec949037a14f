import type { HtmlElement } from './html-tree.ts'
import { shapeOf, textOf } from './html-tree.ts'
import { limits } from './limits.ts'
import type { BlockOptions } from './rendering/blocks.ts'
import { blocksAsMarkdown } from './rendering/blocks.ts'

/** Markdown with headings as `#`, tables as GitHub writes them, and images as their description. */
export function toMarkdown(root: HtmlElement, options: BlockOptions): string {
  if (shapeOf(root).depth > limits.htmlDepth) return textOf(root).trim()
  return blocksAsMarkdown(root, options).trim()
}
