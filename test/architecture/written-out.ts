/** Words that a source of the console shows as it has them, in the same language to all people; found without running it. */
import { parseAst } from 'vitest/node'

interface SyntaxNode {
  type: string
  [key: string]: unknown
}

/** Attributes that people see or hear, of elements and of the pieces in `ui/`. */
const shown =
  /^(?:aria-(?:label|description|roledescription|valuetext|placeholder)|title|placeholder|alt|label|text|hint|action|detail)$/
const letters = /\p{L}/u
/** A capital at its start and a second word: shown by a call, such as that of a toast. */
const sentence = /^\p{Lu}\S*\s+\p{L}/u
/** The same in all languages: the name of the product, and paths. */
const names = /agentstead|\/\S+/g
/** What these say is met by programmers alone. */
const ofProgrammers = new Set(['Error', 'DOMException'])

/** The words in elements and in attributes that are shown, and sentences anywhere else. */
export function writtenOut(source: string, lang: 'ts' | 'tsx' = 'tsx'): string[] {
  const found: string[] = []
  visit(parseAst(source, { lang, sourceType: 'module' }), false, found)
  return found
}

function visit(value: unknown, isShown: boolean, found: string[]): void {
  if (Array.isArray(value)) {
    for (const one of value) visit(one, isShown, found)
    return
  }
  if (!isNode(value)) return
  if (value.type === 'NewExpression' && ofProgrammers.has(nameOf(value.callee))) return
  // Those of a JSON Schema are code.
  if (value.type === 'Property' && nameOf(value.key) === 'examples') return
  const words = wordsOf(value)
  if (words !== undefined && (isShown ? letters : sentence).test(words.replaceAll(names, '')))
    found.push(words.trim())
  for (const [name, child] of Object.entries(value)) visit(child, isShownIn(value, name, isShown), found)
}

function wordsOf({ type, value }: SyntaxNode): string | undefined {
  if (type === 'TemplateElement') return (value as { raw: string }).raw
  return (type === 'Literal' || type === 'JSXText') && typeof value === 'string' ? value : undefined
}

/** Whether people see the value of a node's child, if they see that of the node. */
function isShownIn(node: SyntaxNode, child: string, isShown: boolean): boolean {
  switch (node.type) {
    case 'JSXElement':
    case 'JSXFragment':
      return child === 'children'
    case 'JSXAttribute':
      return child === 'value' && shown.test(nameOf(node.name))
    case 'ConditionalExpression':
      return isShown && child !== 'test'
    case 'BinaryExpression':
      return isShown && node.operator === '+'
    case 'JSXExpressionContainer':
    case 'LogicalExpression':
    case 'ParenthesizedExpression':
    case 'TemplateLiteral':
      return isShown
    default:
      return false
  }
}

const nameOf = (node: unknown) => (isNode(node) ? String(node.name) : '')

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
