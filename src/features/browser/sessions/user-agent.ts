import type { CDPSession } from 'playwright-core'

/** The engine's name without a window, which sites take for a robot's. */
const withoutWindow = /\bHeadless(?=Chrome\/)/

/** Returns the user agent of a browser of this version with a window. */
export function usualUserAgent(version: string): string {
  const major = version.split('.')[0]
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`
}

/** Makes `navigator.userAgentData` and the client hints match the user agent. */
export async function alignBrands(cdp: CDPSession, userAgent: string): Promise<void> {
  const userAgentMetadata = metadataOf(userAgent.replace(withoutWindow, ''))
  await cdp.send('Emulation.setUserAgentOverride', { userAgent, userAgentMetadata })
}

function metadataOf(userAgent: string) {
  const version = /Chrome\/([\d.]+)/.exec(userAgent)?.[1]
  const engine = version === undefined ? [] : ['Chromium', 'Google Chrome']
  const brandsIn = (ofBrand: string, other: string) => [
    ...engine.map(brand => ({ brand, version: ofBrand })),
    { brand: 'Not.A/Brand', version: other },
  ]
  return {
    brands: brandsIn(version?.split('.')[0] ?? '', '99'),
    fullVersionList: brandsIn(version ?? '', '99.0.0.0'),
    ...platformOf(userAgent),
    platformVersion: '',
    model: '',
    mobile: /\bMobile\b/.test(userAgent),
  }
}

function platformOf(userAgent: string): { platform: string; architecture: string } {
  if (/Android/.test(userAgent)) return { platform: 'Android', architecture: 'arm' }
  if (/Windows/.test(userAgent)) return { platform: 'Windows', architecture: 'x86' }
  if (/Mac OS X/.test(userAgent)) return { platform: 'macOS', architecture: 'x86' }
  return { platform: 'Linux', architecture: 'x86' }
}
