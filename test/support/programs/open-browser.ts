/** Starts the bundled browser and paints text; prints how long that took, and how many dark pixels each font has left. */
import { settleEnvironment } from '#configuration/configuration.ts'
import { createBrowsers } from '#features/browser/chromium/browsers.ts'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool } from '#platform/workers/worker-pool.ts'

settleEnvironment()
const [, , dataDirectory = ''] = process.argv
const begun = performance.now()
const log = createLog('warn')
const browsers = createBrowsers({
  dataDirectory,
  chromiumPath: undefined,
  remote: undefined,
  display: undefined,
  workers: createWorkerPool({ log }),
  log,
})
const { browser } = await browsers.use('agent', { headless: true })
const context = await browser.newContext({ viewport: { width: 400, height: 300 } })
const page = await context.newPage()
const openedIn = performance.now() - begun
await page.setContent('<p>')
const empty = await page.screenshot()
await page.setContent('<p>Painted text</p>')
const written = await page.screenshot()
const pixels = await page.evaluate(`['sans-serif', 'serif', 'monospace', 'emoji'].map(family => {
  const brush = document.createElement('canvas').getContext('2d')
  brush.font = '40px ' + family
  brush.fillText(family === 'emoji' ? '😀' : 'Text', 10, 60)
  return brush.getImageData(0, 0, 200, 100).data.filter((value, index) => index % 4 === 3 && value > 0).length
})`)
process.stdout.write(
  `${JSON.stringify({ openedIn, pixels, differs: written.length > empty.length + 100 })}\n`,
)
await browsers.close()
