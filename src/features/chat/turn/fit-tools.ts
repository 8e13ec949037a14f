import { stemmer } from 'stemmer'
import { isStopWord, termsOf } from '#models/text-analysis/text-analysis.ts'
import type { Tool } from '#models/tools/tool.ts'
import { mapInBatches } from '#platform/event-loop/in-batches.ts'

/** Max tools that the model services accept. */
const maxTools = 128
/** Max characters of the conversation that are its topic. */
const topicCharacters = 8000
/** Characters that a tool counts besides its texts. */
const charactersPerTool = 40
/** Tools that are processed before the event loop yields: an agent can have thousands. */
const atOnce = 100

interface Room {
  /** Max characters of all tool definitions together. */
  characters: number
  /** Texts of the conversation, the newest first. */
  topic: readonly string[]
}

interface Fitted {
  tools: Tool[]
  leftOut: number
}

/**
 * Chooses the tools for a model. If there are too many, or their definitions are too long, those remain that share
 * most words with the conversation; built-in ones always remain. The order is kept.
 */
export async function fitTools(tools: readonly Tool[], { characters, topic }: Room): Promise<Fitted> {
  const sized = await mapInBatches(tools, atOnce, tool => ({ tool, size: sizeOf(tool) }))
  const whole = sized.reduce((sum, { size }) => sum + size, 0)
  if (tools.length <= maxTools && whole <= characters) return { tools: [...tools], leftOut: 0 }
  const relevance = await relevanceTo(topic.join('\n').slice(0, topicCharacters), tools)
  const ranked = sized.toSorted((one, other) => relevance(other.tool) - relevance(one.tool))
  const kept = new Set<Tool>()
  let room = characters
  for (const { tool, size } of ranked) {
    if (kept.size === maxTools) break
    if (size > room && !tool.isBuiltIn) continue
    kept.add(tool)
    room -= size
  }
  return { tools: tools.filter(tool => kept.has(tool)), leftOut: tools.length - kept.size }
}

function sizeOf({ name, description, parameters }: Tool): number {
  return charactersPerTool + name.length + description.length + JSON.stringify(parameters).length
}

/** Sums the rarity of the words that a tool shares with the topic; words in its name count twice. */
async function relevanceTo(topic: string, tools: readonly Tool[]): Promise<(tool: Tool) => number> {
  const wanted = new Set(wordsOf(topic))
  const words = new Map(await mapInBatches(tools, atOnce, tool => [tool, shared(tool, wanted)] as const))
  const owners = new Map<string, number>()
  for (const { all } of words.values()) for (const word of all) owners.set(word, (owners.get(word) ?? 0) + 1)
  const rarity = (word: string) => Math.log(1 + tools.length / (owners.get(word) ?? 1))
  const sum = (found: Iterable<string>) => [...found].reduce((total, word) => total + rarity(word), 0)
  const scores = new Map(
    tools.map(tool => {
      const { all, named } = words.get(tool) ?? { all: [], named: [] }
      return [tool, tool.isBuiltIn ? Number.POSITIVE_INFINITY : sum(all) + sum(named)]
    }),
  )
  return tool => scores.get(tool) ?? 0
}

function shared({ name, description }: Tool, wanted: ReadonlySet<string>) {
  const named = new Set(wordsOf(name).filter(word => wanted.has(word)))
  const described = wordsOf(description).filter(word => wanted.has(word))
  return { named, all: new Set([...named, ...described]) }
}

/** Returns words in a normal form; joined words in a name, as in `getCustomField`, are split. */
function wordsOf(text: string): string[] {
  const spaced = text.replaceAll('_', ' ').replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
  return termsOf(spaced)
    .filter(term => !isStopWord(term))
    .map(stemmer)
}
