import { isImage } from '../language-model/images.ts'
import type { CallOptions, PromptMessage, ToolOutput } from '../language-model/language-model.ts'
import { readPassages, withoutPassages } from '../language-model/passages.ts'
import {
  answerFromDocuments,
  answerFromNothing,
  answerFromPage,
  answerFromPassages,
  answerFromTable,
  answerToGreeting,
  failed,
} from './answer.ts'
import { greetingIn, requestsDocuments } from './simple-requests.ts'
import { documentList, failureOf, foundPassages, tableOf, webPage } from './tool-results.ts'

/** The retriever's next step: calls one tool, or gives its answer. */
export type NextStep = { toolName: string; input: Record<string, string> } | { text: string }

/** Max characters of a message that are searched. */
const queryLength = 1000

const link = /https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}]/i
/** Matches an SQL statement, but no sentence that begins with one of these words. */
const select = /^\s*(?:select\s[\s\S]*\bfrom\s|select\s+(?:[\d('"*]|distinct\s)|with\s+\w+\s+as\s*\()/i

const cannotSee =
  'I can’t see images, since I only quote documents. Choose a language model that supports images to have them looked at.'

/** Returns the next step; after images, its answer says that the retriever cannot see them. */
export function nextStep(options: Pick<CallOptions, 'prompt' | 'tools' | 'toolChoice'>): NextStep {
  const { prompt } = options
  const question = prompt.findLast(({ role }) => role === 'user')
  if (question?.role !== 'user' || !question.content.some(isImage)) return decide(options)
  const step: NextStep = textOf(question).trim() === '' ? { text: '' } : decide(options)
  return 'text' in step ? { text: `${cannotSee}\n\n${step.text}`.trim() } : step
}

/**
 * Decides by the last user message and what came after it. After a call's result, answers from that;
 * otherwise reads a URL, runs a SELECT, lists documents, quotes passages in the prompt, or searches them.
 */
function decide({
  prompt,
  tools = [],
  toolChoice,
}: Pick<CallOptions, 'prompt' | 'tools' | 'toolChoice'>): NextStep {
  const lastUser = prompt.findLastIndex(message => message.role === 'user')
  const message = textOf(prompt[lastUser])
  const question = withoutPassages(message)
  const result = lastResult(prompt.slice(lastUser + 1))
  if (result !== undefined) return { text: answerFromResult(question, result) }

  const greeting = greetingIn(question)
  if (greeting !== undefined) return { text: answerToGreeting(greeting) }
  const names = toolChoice?.type === 'none' ? [] : tools.map(tool => tool.name)
  const url = question.match(link)?.[0]
  if (url !== undefined && names.includes('browse_url')) return { toolName: 'browse_url', input: { url } }
  if (select.test(question) && names.includes('execute_sql')) {
    return { toolName: 'execute_sql', input: { query: question } }
  }
  const maySearch = names.includes('search_knowledge')
  if (maySearch && requestsDocuments(question)) return { toolName: 'search_knowledge', input: { query: '*' } }
  const instructions = prompt.filter(({ role }) => role === 'system').map(textOf)
  const passages = [...instructions, message].flatMap(readPassages)
  if (passages.length === 0 && maySearch && question !== '') {
    return { toolName: 'search_knowledge', input: { query: question.slice(0, queryLength) } }
  }
  return {
    text: passages.length === 0 ? answerFromNothing(question) : answerFromPassages(question, passages),
  }
}

interface Result {
  toolName: string
  output: ToolOutput
}

function answerFromResult(question: string, { toolName, output }: Result): string {
  const failure = failureOf(output)
  if (failure !== undefined) return failed(`The tool ${toolName}`, failure)
  const table = toolName === 'execute_sql' ? tableOf(output) : undefined
  if (table !== undefined) return answerFromTable(table)
  const page = toolName === 'browse_url' ? webPage(output) : undefined
  if (page !== undefined) return answerFromPage(question.replace(link, ' '), page)
  const documents = documentList(output)
  if (documents !== undefined) return answerFromDocuments(documents)
  return answerFromPassages(question, foundPassages(output))
}

function lastResult(messages: readonly PromptMessage[]): Result | undefined {
  const results = messages.flatMap(message => (message.role === 'tool' ? message.content : []))
  return results.findLast(part => part.type === 'tool-result')
}

function textOf(message: PromptMessage | undefined): string {
  if (message === undefined) return ''
  if (message.role === 'system') return message.content
  return message.content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
}
