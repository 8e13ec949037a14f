/** How good the quotes are, measured on questions whose answer is a known span of a known paragraph (XQuAD). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { answerFromPassages } from './answer.ts'

const folder = join(process.env.REAL_FIXTURES ?? '', 'ir')
/** Every so many-th question is asked; paragraphs that are offered beside the right one. */
const step = 4
const strangers = [1, 13, 29, 47, 61, 83, 101]

function read(language: string) {
  const lines = (name: string) =>
    readFileSync(join(folder, `xquad-${language}`, name), 'utf8')
      .trim()
      .split('\n')
  const paragraphs = new Map<string, string>(
    lines('corpus.jsonl').map(line => [JSON.parse(line).id, JSON.parse(line).text]),
  )
  const right = new Map(lines('qrels.tsv').map(line => line.split('\t').slice(0, 2) as [string, string]))
  const questions = lines('queries.jsonl').map(
    line => JSON.parse(line) as { id: string; text: string; answer: string },
  )
  return { paragraphs, right, questions: questions.filter((_, index) => index % step === 0) }
}

describe.skipIf(!process.env.REAL_FIXTURES)('answers to real questions (needs REAL_FIXTURES)', () => {
  test.each(['de', 'zh', 'ar'])('%s', language => {
    const { paragraphs, right, questions } = read(language)
    const ids = [...paragraphs.keys()]
    const passage = (id: string) => ({ source: id, text: paragraphs.get(id) ?? '' })
    const counts = { asked: 0, rightFirst: 0, holdsAnswer: 0, sureWithoutIt: 0 }
    for (const { id, text, answer } of questions) {
      const place = ids.indexOf(right.get(id) ?? '')
      const [first = '', ...others] = strangers.map(distance => ids[(place + distance) % ids.length] ?? '')
      const said = answerFromPassages(text, [first, ids[place] ?? '', ...others].map(passage))
      counts.asked += 1
      if (said.match(/From “([^”]+)”/)?.[1] === ids[place]) counts.rightFirst += 1
      if (said.includes(answer)) counts.holdsAnswer += 1
      if (answerFromPassages(text, [first, ...others].map(passage)).startsWith('From'))
        counts.sureWithoutIt += 1
    }
    expect(counts.asked).toBe(158)
    expect(counts.rightFirst / counts.asked).toBeGreaterThan(0.9)
    expect(counts.holdsAnswer / counts.asked).toBeGreaterThan(0.84)
    expect(counts.sureWithoutIt / counts.asked).toBeLessThan(0.12)
  })
})
