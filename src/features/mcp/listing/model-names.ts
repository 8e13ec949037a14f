import { createHash } from 'node:crypto'

interface NamedTool {
  serverName: string
  name: string
}

const longest = 64
const acceptable = /^[A-Za-z0-9_-]{1,64}$/

/**
 * Names the tools for a model, in order: by a tool's own name if it is acceptable and unique, otherwise with
 * the server's name before it. The same tools always get the same names.
 */
export function namedForModels<Named extends NamedTool>(
  tools: readonly Named[],
  taken: ReadonlySet<string>,
): { tool: Named; name: string }[] {
  const counts = new Map<string, number>()
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1)
  const isFree = (name: string) => acceptable.test(name) && counts.get(name) === 1 && !taken.has(name)
  const usedNames = new Set<string>([...taken, ...tools.map(({ name }) => name).filter(isFree)])
  return tools.map(tool => {
    if (isFree(tool.name)) return { tool, name: tool.name }
    const prefixed = slug(`${tool.serverName}_${tool.name}`)
    const name = prefixed.length <= longest && !usedNames.has(prefixed) ? prefixed : marked(prefixed, tool)
    usedNames.add(name)
    return { tool, name }
  })
}

function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, '_')
}

/** Adds a suffix of eight characters if the characters that models accept are ambiguous. */
function marked(name: string, { serverName, name: toolName }: NamedTool): string {
  const mark = createHash('sha256').update(`${serverName}\n${toolName}`).digest('hex').slice(0, 8)
  return `${name.slice(0, longest - 9)}_${mark}`
}
