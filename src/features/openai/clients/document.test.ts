/** Runs the snippets of docs/from-your-tools.md as they stand there, but for the address. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { usualAnswer } from '#test/support/chat-model.ts'
import { setChatStage } from '#test/support/chat-stage.ts'

const document = readFileSync('docs/from-your-tools.md', 'utf8')
const snippets = Array.from(document.matchAll(/^```ts (\S+)\n([\s\S]+?)^```$/gm), ([, name, code]) => ({
  name,
  code,
}))

it('the snippets of packages print what the agent says', async () => {
  expect(snippets.map(({ name }) => name)).toEqual(['openai', 'ai', 'langchain'])
  await using stage = await setChatStage()
  const address = await stage.app.listen()
  const printed = snippets.map(({ code = '' }) => {
    const here = code.replaceAll('http://127.0.0.1:8080', address)
    const { stdout } = spawn(process.execPath, ['--input-type=module-typescript', '--eval', here])
    return text(stdout)
  })
  expect((await Promise.all(printed)).map(output => output.trim())).toEqual(snippets.map(() => usualAnswer))
  const curl = /-d '(.+)'/.exec(document)?.[1] ?? ''
  const headers = { authorization: 'Bearer none', 'content-type': 'application/json' }
  const answer = await fetch(`${address}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: curl,
  })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: usualAnswer } }] })
})
