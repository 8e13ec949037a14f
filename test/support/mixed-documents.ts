/** Documents of every format that is read, the good and the bad, as a person's folder of them holds it. */
import { makeDocx, makeEncryptedPdf, makePdf } from './documents.ts'

/** What the service makes of a document in the end. */
export type Outcome =
  /** It is found by `word`, which no other document holds. */
  | { kind: 'ready'; word: string }
  | { kind: 'error'; reason: string }
  | { kind: 'refused'; status: number; message: string }

export interface MixedDocument {
  name: string
  outcome: Outcome
  make(): Promise<Uint8Array>
}

interface Mix {
  count: number
  /** Characters of text in each good document, on average. */
  characters: number
  /** Text of about so many characters, in paragraphs. */
  write(characters: number): string
  /** Bytes that the service takes; one document has more. */
  maxUploadBytes: number
}

type Maker = (text: string) => Uint8Array | Promise<Uint8Array>

const plain: Maker = text => Buffer.from(text)

const good: [extension: string, Maker][] = [
  ['txt', plain],
  ['pdf', text => makePdf(pagesOf(text))],
  ['md', text => Buffer.from(paragraphsOf(text).join('\n\n## A part of it\n\n'))],
  ['docx', text => makeDocx(paragraphsOf(text).map(paragraph => ({ text: paragraph })))],
  ['csv', text => Buffer.from(`line,text\n${linesOf(text).map(csvLine).join('\n')}`)],
  ['json', text => Buffer.from(JSON.stringify({ parts: paragraphsOf(text) }))],
]

type Bad = [extension: string, Outcome, Maker]

function badOnes(maxUploadBytes: number): Bad[] {
  const error = (reason: string): Outcome => ({ kind: 'error', reason })
  const refused = (status: number, message: string): Outcome => ({ kind: 'refused', status, message })
  return [
    ['pdf', error('This PDF is protected by a password. Upload it without one.'), makeEncryptedPdf],
    [
      'pdf',
      error('This file is damaged or not a PDF.'),
      text => Buffer.from(`%PDF-1.7\n${text.slice(0, 5000)}`),
    ],
    ['docx', error('This file is damaged or not a Word document (.docx).'), text => cutDocx(text)],
    ['txt', error('This file is not text: it holds binary data.'), () => Buffer.alloc(5000)],
    ['pdf', error('This PDF holds no text that can be read'), () => makePdf([''])],
    ['md', refused(400, 'is empty'), () => new Uint8Array()],
    ['txt', refused(413, 'is larger than'), () => Buffer.alloc(maxUploadBytes + 1, 'a')],
    ['exe', refused(415, 'cannot be read'), plain],
  ]
}

/** Every tenth is a bad one. The same in every run, as far as `write` is. */
export function mixDocuments({ count, characters, write, maxUploadBytes }: Mix): MixedDocument[] {
  const bad = badOnes(maxUploadBytes)
  return Array.from({ length: count }, (_, at) => {
    const badOne = at % 10 === 9 ? bad[Math.floor(at / 10) % bad.length] : undefined
    if (badOne !== undefined) {
      const [extension, outcome, make] = badOne
      return { name: `bad-${at}.${extension}`, outcome, make: async () => make(write(characters)) }
    }
    const [extension, make] = good[at % good.length] ?? ['txt', plain]
    const word = `zyx${at}q`
    // From a fifth of the average to nearly twice as much.
    const size = Math.round(characters * (0.2 + 0.16 * (at % 11)))
    const text = () => `${write(size)}\n\nHere stands the word ${word} alone.`
    return {
      name: `good-${at}.${extension}`,
      outcome: { kind: 'ready', word },
      make: async () => make(text()),
    }
  })
}

function paragraphsOf(text: string): string[] {
  return text.split('\n\n')
}

/** Of at most 80 characters, broken between words. */
function linesOf(text: string): string[] {
  return text.match(/\S.{0,79}(?=\s|$)/g) ?? []
}

const linesPerPage = 50

function pagesOf(text: string): string[] {
  const lines = linesOf(text)
  return Array.from({ length: Math.ceil(lines.length / linesPerPage) }, (_, page) =>
    lines.slice(page * linesPerPage, (page + 1) * linesPerPage).join('\n'),
  )
}

function csvLine(line: string, at: number): string {
  return `${at},"${line.replaceAll('"', '""')}"`
}

async function cutDocx(text: string): Promise<Uint8Array> {
  const whole = await makeDocx([{ text: text.slice(0, 5000) }])
  return whole.subarray(0, whole.length / 2)
}
