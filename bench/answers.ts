/**
 * How often the built-in retriever answers right, and says that nothing fits where nothing does, on the question sets of
 * REAL_FIXTURES/ir that have answers. Each article is a source. Answerable: the question is asked while its article is
 * there, and the first quote must contain the answer. Unanswerable: it is asked while all articles but its own are there,
 * and nothing may be quoted. The retriever's thresholds were chosen on the even articles, so that the odd ones tell how
 * well they do on others.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nothingFits } from '#models/builtin/answer.ts'
import type { Program } from './support/program.ts'
import { call, sourcesOf, startService, untilReady, uploadText } from './support/service.ts'
import { printTable, type Row } from './support/table.ts'

interface Question {
  text: string
  answer: string
}

interface Article {
  text: string
  questions: Question[]
  /** Whether the thresholds were chosen on it. */
  isKnown: boolean
}

/** What was said to a question of this article. */
interface Said extends Question {
  article: Article
  reply: string
}

const questionSets = ['xquad-de', 'xquad-ar', 'xquad-zh']
const minPercent = 80
const questionsAtOnce = 8
const fixtures = process.env.REAL_FIXTURES
if (fixtures === undefined) throw new Error('Set REAL_FIXTURES to the folder with the question sets (ir/).')

const rows: Row[] = []
for (const name of questionSets) rows.push(...(await measure(name, readArticles(join(fixtures, 'ir', name)))))
printTable('answers of the built-in retriever', 'the halves of the articles apart', rows)

async function measure(name: string, articles: readonly Article[]): Promise<Row[]> {
  await using service = await startService()
  const upload = ({ text }: Article, index: number) => uploadText(service, `article-${index}`, text)
  const sources = await Promise.all(articles.map(upload))
  for (const id of sources) await untilReady(service, id)
  const answerable: Said[] = []
  for (const article of articles) answerable.push(...(await askAll(service, article)))
  const unanswerable: Said[] = []
  for (const [index, article] of articles.entries()) {
    await fetch(`${sourcesOf(service)}/${sources[index]}`, { method: 'DELETE' })
    unanswerable.push(...(await askAll(service, article)))
    await untilReady(service, await upload(article, index))
  }
  return [
    rowOf(`${name}, answerable: the answer is in the first quote`, answerable, quotesAnswerFirst),
    rowOf('  quoted, rightly or not', answerable, ({ reply }) => reply !== nothingFits, false),
    rowOf('  unanswerable: nothing fits', unanswerable, ({ reply }) => reply === nothingFits),
  ]
}

async function askAll(service: Program, article: Article): Promise<Said[]> {
  const said: Said[] = []
  for (let start = 0; start < article.questions.length; start += questionsAtOnce) {
    const asked = article.questions.slice(start, start + questionsAtOnce)
    said.push(...(await Promise.all(asked.map(question => ask(service, article, question)))))
  }
  return said
}

async function ask(service: Program, article: Article, question: Question): Promise<Said> {
  const chat = `${service.address}/api/agents/default/chat`
  const { assistantMessage } = await call<{ assistantMessage: { content: string } }>(chat, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: question.text }),
  })
  return { ...question, article, reply: assistantMessage.content }
}

function quotesAnswerFirst({ reply, answer }: Said): boolean {
  const [, ...quotes] = reply.split(/(?:^|\n\n)From “/)
  return onOneLine(quotes[0] ?? '').includes(onOneLine(answer))
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function rowOf(what: string, said: readonly Said[], isRight: (one: Said) => boolean, hasBar = true): Row {
  const percent = (some: readonly Said[]) => (100 * some.filter(isRight).length) / some.length
  const half = (isKnown: boolean) =>
    percent(said.filter(({ article }) => article.isKnown === isKnown)).toFixed(1)
  return {
    what,
    service: `${said.filter(isRight).length} of ${said.length}`,
    reference: `chosen on ${half(true)}, others ${half(false)}`,
    figure: percent(said),
    unit: '%',
    ...(hasBar && { bar: { least: minPercent } }),
  }
}

function readArticles(folder: string): Article[] {
  const lines = (name: string) => readFileSync(join(folder, name), 'utf8').trim().split('\n')
  const articles = new Map<string, Article>()
  const byParagraph = new Map<string, Article>()
  for (const line of lines('corpus.jsonl')) {
    const { id, title, text } = JSON.parse(line) as { id: string; title: string; text: string }
    const article = articles.get(title) ?? { text: '', questions: [], isKnown: articles.size % 2 === 0 }
    article.text += `${text}\n\n`
    articles.set(title, article)
    byParagraph.set(id, article)
  }
  const paragraphs = new Map(lines('qrels.tsv').map(line => line.split('\t').slice(0, 2) as [string, string]))
  for (const line of lines('queries.jsonl')) {
    const { id, text, answer } = JSON.parse(line) as Question & { id: string }
    byParagraph.get(paragraphs.get(id) ?? '')?.questions.push({ text, answer })
  }
  return [...articles.values()]
}
