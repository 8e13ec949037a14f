import { expect, test } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { sketchBytes, sketchOf } from '../../search/sketch-bits.ts'
import { createScan, looksAmong } from './sketch-scan.ts'
import { bitValues } from './sketches.ts'

const floats = { form: 'floats' } as const
const dimensions = 48
const perBlock = 250

/** Vectors in all directions, of which each tenth one of a thousand is near the query. */
function makeBlocks(count: number) {
  const { next: random } = seededRandom(7)
  const direction = () => Float32Array.from({ length: dimensions }, () => random() - 0.5)
  const query = direction()
  const isNear = (sequence: number) => sequence % 1000 === 10
  const vectorOf = (sequence: number) => {
    const own = direction()
    return isNear(sequence) ? own.map((value, index) => value * 0.5 + (query[index] ?? 0)) : own
  }
  const blocks = Array.from({ length: count / perBlock }, (_, number) => {
    const sequences = Float64Array.from({ length: perBlock }, (_, index) => number * perBlock + index)
    const sketches = new Uint8Array(perBlock * sketchBytes)
    for (const [index, sequence] of sequences.entries())
      sketches.set(sketchOf(floats, vectorOf(sequence)), index * sketchBytes)
    return { sequences, sketches: new Uint32Array(sketches.buffer) }
  })
  const near = Array.from({ length: count }, (_, sequence) => sequence).filter(isNear)
  return { query, blocks, near }
}

test('of many vectors the near ones are among the few that get an exact look', () => {
  const { query, blocks, near } = makeBlocks(20_000)
  const scan = createScan(bitValues(floats, { vector: query }), 10)
  for (const block of blocks) scan.add(block)
  const found = new Set(scan.nearest())
  expect(near.filter(sequence => !found.has(sequence))).toEqual([])
  expect(found.size).toBeLessThan(looksAmong(20_000, 10) * 1.1)
})

test('what has gone or is not selected takes no place, however near it is', () => {
  const { query, blocks, near } = makeBlocks(20_000)
  const scan = createScan(bitValues(floats, { vector: query }), 10)
  const [gone, first, ...others] = near
  const within = new Set([gone, first].filter(one => one !== undefined))
  for (const block of blocks) scan.add(block, { gone: new Set([gone ?? 0]), within })
  expect(scan.nearest()).toEqual([first])
  const rest = createScan(bitValues(floats, { vector: query }), 10)
  for (const block of blocks) rest.add(block, { gone: new Set(others) })
  const found = new Set(rest.nearest())
  expect(others.filter(sequence => found.has(sequence))).toEqual([])
  expect(found.has(first ?? 0)).toBe(true)
})

test('a few vectors all get an exact look', () => {
  const { query, blocks } = makeBlocks(250)
  const scan = createScan(bitValues(floats, { vector: query }), 10)
  for (const block of blocks) scan.add(block)
  expect(scan.nearest()).toHaveLength(250)
})
