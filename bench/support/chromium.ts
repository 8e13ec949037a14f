import { tmpdir } from 'node:os'
import { type Browser, chromium } from 'playwright-core'
import { bundledChromium } from '#features/browser/chromium/bundled.ts'

/** Starts the browser that the service brings along, to be closed by the caller. */
export async function launchChromium(): Promise<Browser> {
  const { path, libraries = '', fonts = '' } = await bundledChromium(tmpdir())
  return chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-gpu'],
    env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: fonts, LANG: 'C.UTF-8' },
  })
}
