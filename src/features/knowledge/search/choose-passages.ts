import type { SearchedPassage } from '#models/language-model/passages.ts'

/** Max characters of a question's passages: less than the prompt reserves for them. */
const passageCharacters = 12_000
const maxPassages = 6

/** Max passages of one source, while others have almost equally good ones. */
const maxOfOne = 3
const nearlyAsGood = 0.6

/** Returns a question's automatic passages, best first, up to the limits per text and source. */
export function choosePassages<Result extends SearchedPassage>(
  results: readonly Result[],
  characters: number,
): Result[] {
  const spread = new Set(spreadOver(results))
  const rest = results.filter(result => !spread.has(result))
  const chosen = new Set<Result>()
  let room = Math.min(passageCharacters, characters)
  for (const result of [...spread, ...rest]) {
    if (chosen.size === maxPassages) break
    if (result.content.length > room) continue
    chosen.add(result)
    room -= result.content.length
  }
  return results.filter(result => chosen.has(result))
}

function spreadOver<Result extends SearchedPassage>(results: readonly Result[]): Result[] {
  const best = results[0]?.score ?? 0
  const counts = new Map<string, number>()
  return results.filter(({ source_id, score }) => {
    const count = (counts.get(source_id) ?? 0) + 1
    counts.set(source_id, count)
    return count <= maxOfOne && score >= best * nearlyAsGood
  })
}
