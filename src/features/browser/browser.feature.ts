import type { ConnectionAccess } from '#features/access/access.feature.ts'
import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { createSignedRequests } from '#platform/http/replicas/signed-requests.ts'
import { temporaryFiles } from '#platform/temporary-file.ts'
import { removeAbandonedFolders } from '#platform/temporary-folder.ts'
import { registerActionRoutes } from './actions/actions.routes.ts'
import { createActionsService } from './actions/actions.service.ts'
import { browserEvents } from './browser.events.ts'
import { registerBrowserRoutes } from './browser.routes.ts'
import { type BrowserService, createBrowserService } from './browser.service.ts'
import { createAdmission } from './channels/admission.ts'
import { registerChannels } from './channels/channels.routes.ts'
import { createScreencasts } from './channels/screencast.ts'
import { createBrowsers } from './chromium/browsers.ts'
import { unfinishedBrowsers } from './chromium/bundled.ts'
import { profileFolders } from './chromium/profile-folder.ts'
import { createLiveLinks } from './live/live-links.ts'
import { registerLivePage } from './live/live-page.routes.ts'
import { createProfilesService } from './profiles/profiles.service.ts'
import { registerRecordingRoutes } from './recordings/recordings.routes.ts'
import { createRecordings } from './recordings/recordings.service.ts'
import { registerReplay } from './recordings/replay.routes.ts'
import { createPageRenderer, type RenderPage } from './rendering/render-page.ts'
import { createHeldSessions } from './sessions/held-sessions.ts'
import { createHolderOf, passToHolder } from './sessions/pass-to-holder.ts'
import { createPlaces } from './sessions/places.ts'
import { agentOfSession } from './sessions/session-id.ts'
import { registerTakeoverRoutes } from './takeovers/takeovers.routes.ts'
import { createTakeovers } from './takeovers/takeovers.service.ts'
import { createBrowserTools } from './tools/browser-tools.ts'

export interface BrowserFeature extends Feature {
  browser: BrowserService
  renderPage: RenderPage
  /** Returns true if a browser of any process runs the session. */
  isBrowserOpen: BrowserService['isOpen']
}

export function createBrowser(
  infrastructure: Infrastructure,
  { settings, connections }: { settings: SettingsService; connections: ConnectionAccess },
): BrowserFeature {
  const { configuration, agentDatabases, agentSecrets, secretBox, transact, instanceId } = infrastructure
  const { clock, ids, log } = infrastructure
  const { connect } = infrastructure.outbound
  const { dataDirectory, leaseMs, baseUrl, maxUploadBytes } = configuration
  const { replicaUrl } = configuration.browser
  const browsers = createBrowsers({
    ...configuration.browser,
    dataDirectory,
    workers: infrastructure.browserWorkers,
    log,
  })
  const profiles = createProfilesService({ agentSecrets, instanceId, clock })
  const places = createPlaces(configuration.browser)
  const recordings = createRecordings({ transact, clock, log })
  const held = createHeldSessions({ finishRecording: recordings.finish, leaseMs, clock, log })
  const life = { agentDatabases, instanceId, leaseMs, replicaUrl, clock, ids }
  const listening = Promise.withResolvers<() => string>()
  const links = createLiveLinks({
    secret: secretBox.derive(['links to browser sessions']),
    origin: async () => baseUrl ?? (await listening.promise)(),
    clock,
  })
  const actions = createActionsService(maxUploadBytes)
  const parts = { browsers, actions, held, places, profiles, recordings }
  const browser = createBrowserService({ ...parts, connect, ...life })
  const takeovers = createTakeovers({ transact, links, held, clock, ids })
  const admission = createAdmission({ access: connections, links, held, clock })
  const screencastOf = createScreencasts()
  const signedRequests = createSignedRequests(infrastructure)
  const settingsOf = async (agentId: string) => (await settings.profileOf(agentId)).settings
  const isSessionOpen = async (sessionId: string) => {
    const agentId = agentOfSession(sessionId) ?? ''
    // Otherwise a database would be created for a deleted agent.
    await settingsOf(agentId)
    return await agentDatabases.use(agentId, agent => browser.isOpen(agent, sessionId))
  }
  const holderOf = createHolderOf({ held, agentDatabases, settingsOf, instanceId, clock })
  const offerTools = createBrowserTools({ browser, actions, takeovers, settingsOf })
  return {
    browser,
    isBrowserOpen: browser.isOpen,
    renderPage: createPageRenderer({ browsers, connect, clock }),
    tools: (agent, _taken, turn) => offerTools(agent, turn),
    routes(app) {
      listening.resolve(() => (app.server.listening ? app.listeningOrigin : 'http://localhost'))
      passToHolder(app, signedRequests, holderOf)
      registerBrowserRoutes(app, { browser, profiles, links, recordings })
      registerRecordingRoutes(app, recordings)
      registerReplay(app, { recordings, links, agentDatabases })
      registerTakeoverRoutes(app, { takeovers, browser })
      registerChannels(app, { admission, takeovers, screencastOf, recordings })
      registerLivePage(app, { links, isSessionOpen, clock })
      registerActionRoutes(app, { browser, actions, maxBytes: Math.ceil((maxUploadBytes * 4) / 3) })
    },
    jobs: recordings.jobs,
    events: browserEvents,
    async start() {
      for (const prefix of [profileFolders, temporaryFiles, ...unfinishedBrowsers(dataDirectory)])
        await removeAbandonedFolders(prefix)
    },
    async stop() {
      await held.close()
      await browsers.close()
    },
  }
}
