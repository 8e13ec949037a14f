import { expect, it } from 'vitest'
import { imagePart } from '#models/language-model/images.ts'
import { createCallCount, estimateOf } from './count-call.ts'

const photo = imagePart('photo.jpg', 'image/jpeg', 'A'.repeat(400_000))
const question = { type: 'text' as const, text: 'Which one is larger?' }

it.each([0, 1, 2])('counts %i images by the piece, not by their bytes', images => {
  const content = [question, ...Array.from({ length: images }, () => photo)]
  const options = { prompt: [{ role: 'user' as const, content }], maxOutputTokens: 10 }
  const price = { input: 1, output: 1 }
  const { tokens } = estimateOf(options, price)
  expect(tokens).toBeGreaterThan(1600 * images)
  expect(tokens).toBeLessThan(1600 * images + 100)
  // As of a call that broke off before its service reported anything.
  expect(createCallCount().counted(options, price).estimated).toBe(tokens - 10)
})
