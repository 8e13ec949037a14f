/** Features that would send the browser's own requests, or that disturb automation. */
const disabledFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

const enabledFeatures = ['CDPScreenshotNewSurface', 'SkipListAccountsWithoutGaiaCookies']

/** Keeps every packet of a page within the guard: functions that ignore proxies are switched off. */
const guarded = [
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--no-pings',
  '--disable-domain-reliability',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // Sessions have their own proxies; other connections go to a port without a listener.
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
]

/** The switches that Playwright passes to browsers, without those for other systems. */
const automated = [
  '--allow-pre-commit-input',
  '--disable-back-forward-cache',
  '--disable-background-networking',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-blink-features=AutomationControlled',
  '--disable-breakpad',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-extensions',
  `--disable-features=${disabledFeatures.join(',')}`,
  `--enable-features=${enabledFeatures.join(',')}`,
  '--disable-field-trial-config',
  '--disable-hang-monitor',
  '--disable-infobars',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-renderer-backgrounding',
  '--disable-search-engine-choice-screen',
  '--disable-stack-profiler',
  '--disable-sync',
  '--enable-unsafe-swiftshader',
  '--force-color-profile=srgb',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-service-autorun',
  '--password-store=basic',
  '--unsafely-disable-devtools-self-xss-warnings',
  // Max heap of a page's JavaScript (MB), which could otherwise use all memory of the machine.
  '--js-flags=--max-old-space-size=1024',
]

const withoutWindow = [
  '--headless',
  '--hide-scrollbars',
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4,selectionClipboardBufferAvailable=false',
]

interface Options {
  headless: boolean
  sandbox: boolean
  /** The browser's own folder, which is removed with it. */
  profile: string
}

/** Returns the command line of a browser that is driven over the pipe at its descriptors 3 and 4. */
export function switchesOf({ headless, sandbox, profile }: Options): string[] {
  return [
    ...automated,
    ...guarded,
    ...(headless ? withoutWindow : []),
    ...(sandbox ? [] : ['--no-sandbox']),
    `--user-data-dir=${profile}`,
    '--remote-debugging-pipe',
    '--no-startup-window',
  ]
}
