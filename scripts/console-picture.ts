/** Makes docs/console.png, the picture in README.md: the real console, with an answer and the page that it cites. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
import { bundledChromium } from '#features/browser/chromium/bundled.ts'
import { makePdf } from '../test/support/documents.ts'
import { makeTemporaryDirectory } from '../test/support/temporary-directory.ts'

const target = new URL('../docs/console.png', import.meta.url)
const maxBytes = 200_000

const pages = [
  `Pottery handbook

This handbook is for the members of the workshop. Each of them has a shelf,
an apron and a share of the kiln. The workshop is open from nine to nine.`,
  `Firing the kiln

Only members who were shown how may start the kiln. Reserve it in the
calendar two days ahead, and name what you will fire. Half a load is fired
together with that of another member.

Load thick pieces low and thin ones high. Keep a finger's width between
them, and two of them to the elements. Put broken shelf under pieces whose
glaze may run, and three cones where the window shows them.

Bisque firing takes the ware to 950 degrees in ten hours. Nothing may be
damp: leave thick pieces on the rack for a week before. The lid stays open
by a hand until 200 degrees, so that the steam can leave. Pieces may touch
and may be stacked, bowl in bowl, as long as the lower ones carry it.

Glaze firing takes stoneware to 1260 degrees in eleven hours. Hold the top
temperature for 20 minutes, then let the kiln cool for a day and a half.
Open the door only below 80 degrees: glazes crackle when cold air meets
them earlier, and shelves may break.

Write each firing into the log: the date, the programme, the top reading
and who has loaded. Members pay for the electricity by the shelf, at the
price that hangs beside the switch. Who opens the kiln too early pays for
the shelves, too.`,
  `Glazes

The grey glaze is made of wood ash, feldspar and a little clay from the
river. Stir it well and sieve it twice before you dip. Keep the lowest
five millimetres of each piece free of it.`,
]

const folder = makeTemporaryDirectory()
const server = spawn(process.execPath, ['src/main.ts'], {
  env: { PORT: '0', DATA_DIR: folder.path, DEV_USER: 'ada@example.com' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(server, 'close')
try {
  const { path, libraries = '', fonts = '' } = await bundledChromium(tmpdir())
  await using browser = await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
    env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: fonts, LANG: 'C.UTF-8' },
  })
  const page = await browser.newPage({
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
    locale: 'en-US',
    reducedMotion: 'reduce',
  })
  await page.goto(await readAddress())
  const buffer = Buffer.from(makePdf(pages))
  const file = { name: 'Pottery handbook.pdf', mimeType: 'application/pdf', buffer }
  await page.getByLabel('Upload a document').locator('input').setInputFiles(file)
  await page.getByText('can be asked about').waitFor()
  await page.getByRole('link', { name: 'Ask a question' }).click()
  await page
    .getByRole('textbox', { name: 'Message' })
    .fill('How hot is a glaze firing, and how long does it take?')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'Sources' }).getByRole('button').first().click()
  await page.getByText('of the passage found').waitFor()
  await page.getByRole('link', { name: /How hot is a glaze firing/ }).waitFor()
  const picture = await page.screenshot()
  if (picture.length > maxBytes)
    throw new Error(`The picture has ${picture.length} bytes, more than ${maxBytes}.`)
  writeFileSync(target, picture)
} finally {
  server.kill()
  await ended
  folder.remove()
}

/** The address of the line that a start ends with. */
async function readAddress(): Promise<string> {
  for await (const line of createInterface(server.stdout)) {
    const address = /^agentstead is ready at (\S+)$/.exec(line)?.[1]
    if (address !== undefined) return address
  }
  throw new Error('The service ended before it was ready.')
}
