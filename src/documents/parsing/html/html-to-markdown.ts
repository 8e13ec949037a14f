import { limits } from '../limits.ts'
import { type HtmlElement, removeElements, shapeOf, textOf } from './html-tree.ts'
import { type BlockOptions, blocksAsMarkdown } from './rendering/blocks.ts'
import { silent } from './rendering/content-kinds.ts'

/** Writes markdown with headings as `#`, GitHub's tables, and images as their description. Changes `root`. */
export function toMarkdown(root: HtmlElement, options: BlockOptions): string {
  removeElements(root, ({ name }) => silent.has(name))
  if (shapeOf(root).depth > limits.htmlDepth) return textOf(root).trim()
  return blocksAsMarkdown(root, options).trim()
}
