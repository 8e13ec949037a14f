import { expect, it } from 'vitest'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { crawl } from '#test/support/crawl.ts'
import { setStage } from '#test/support/crawl-stage.ts'
import { sources } from '#test/support/fetched-source.ts'
import { page } from '#test/support/site-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import type { Source } from '../sources.schema.ts'
import { crawlJobName, processJobName } from './source-jobs.ts'

/** Keeps jobs of this name from ending until `letEnd` is called; `done` resolves when the first has done its work. */
function holdEnds(app: TestApp, name: string) {
  const done = Promise.withResolvers<void>()
  const { promise: end, resolve: letEnd } = Promise.withResolvers<void>()
  const { handlers } = app.service.infrastructure
  const handler = handlers.get(name)
  if (handler === undefined) throw new Error(`nothing handles ${name}`)
  let runs = 0
  handlers.set(name, {
    ...handler,
    async run(context) {
      await handler.run(context)
      runs += 1
      done.resolve()
      await end
    },
  })
  return { done: done.promise, letEnd, runs: () => runs }
}

async function expectAnother(app: TestApp, { id, name, how }: { id: string; name: string; how: string }) {
  const held = holdEnds(app, name)
  const again = async () => (await app.call('POST', `${sources}/${id}/${how}`)).status
  const sourceNow = async () => (await app.call<Source>('GET', `${sources}/${id}`)).body
  expect(await again()).toBe(200)
  await held.done
  // Its work is done, and written down: only the job itself has not ended yet.
  expect((await sourceNow()).status).toBe('ready')
  expect(await again()).toBe(200)
  held.letEnd()
  await app.service.infrastructure.runner.idle()
  expect(held.runs()).toBe(2)
  expect((await sourceNow()).status).toBe('ready')
}

it('a source that is refreshed as soon as it is ready is processed once more', async () => {
  const app = await testApp()
  const id = await uploadAndProcess(app, { name: 'otters.txt', content: 'Otters hold hands.' })
  await expectAnother(app, { id, name: processJobName, how: 'refresh' })
})

it('a website that is crawled again as soon as it is ready is visited once more', async () => {
  const { app, site } = await setStage({ '/': page('Start') })
  const { id } = await crawl(app, { url: site.url })
  await expectAnother(app, { id, name: crawlJobName, how: 'reindex' })
})
