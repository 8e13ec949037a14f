import { kindByWords } from './error-words.ts'
import { type FailedModel, isRefusedRequest, readFailure } from './model-error.ts'

/** Matches a place in the list of tools, or a part of a tool. */
const aboutTools =
  /\b(tools|functions|function_?declarations)(\.|\[)\d|\b(input_schema|tool_?schema|function_?declarations?|invalid schema for function)\b/i
/** Matches failures of servers that turn schemas into grammars. */
const aboutSchemas = /\b(json schema|schema conversion|grammar|tool (definition|schema|parameter)s?)\b/i

/** True if the model takes no tools at all. */
export function takesNoTools(error: unknown): boolean {
  return kindByWords(readFailure(error).evidence) === 'no-tools'
}

/** True if a request might be refused for its tools, not its messages, its key or the like. */
export function mayRefuseTools(error: unknown, model: FailedModel): boolean {
  const failure = readFailure(error)
  const { status = 0, evidence } = failure
  const worded = kindByWords(evidence)
  if (worded !== undefined) return worded === 'no-tools'
  if (status >= 500) return aboutSchemas.test(evidence)
  if (failure.retryable || (status !== 400 && status !== 422)) return false
  return aboutTools.test(evidence) || isRefusedRequest(failure, model)
}

/** Returns the tools that a refusal names, by their place in the request or by their name. */
export function namedTools<Named extends { name: string }>(error: unknown, tools: readonly Named[]): Named[] {
  const { evidence } = readFailure(error)
  const declarations = placesIn(evidence, /function_?declarations\W(\d+)/gi)
  const places =
    declarations.length > 0 ? declarations : placesIn(evidence, /\b(?:tools|functions)(?:\.|\[)(\d+)/gi)
  const placed = tools.filter((_, index) => places.includes(index))
  return placed.length > 0 ? placed : tools.filter(({ name }) => isNamed(name, evidence))
}

function placesIn(evidence: string, pattern: RegExp): number[] {
  return [...evidence.matchAll(pattern)].map(([, place]) => Number(place))
}

/** True if the evidence marks the name, which can also be a word of letters, digits, `_` and `-`. */
function isNamed(name: string, evidence: string): boolean {
  const marked = String.raw`["'\`“‘]${name}["'\`”’]|\b(tool|function)s?:?\s+${name}(?![\w-])`
  const isWord = /^[A-Za-z]?[a-z]*$/.test(name)
  return new RegExp(isWord ? marked : String.raw`${marked}|(?<![\w-])${name}(?![\w-])`).test(evidence)
}
