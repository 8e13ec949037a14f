import {
  createRootRoute,
  createRoute,
  createRouter,
  Navigate,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { loadTexts } from '#console/i18n/text.ts'
import { loadAgent, useAgent } from './agent.tsx'
import { AgentFrame } from './agent-frame.tsx'
import { Starting } from './banners.tsx'
import { isFor, type Page, pages, railViews, views } from './feature.ts'
import { NeedsRole, NotFound, ViewProblem } from './problems.tsx'
import { readSearch, type View, type ViewProps } from './view.ts'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/a/default', replace: true })
  },
})

const agentRoute = createRoute({
  getParentRoute: () => root,
  path: 'a/$agent',
  loader: ({ params }) => loadAgent(params.agent).then(() => {}),
  component: AgentFrame,
  pendingComponent: Starting,
  errorComponent: ViewProblem,
})

const agentStart = createRoute({ getParentRoute: () => agentRoute, path: '/', component: FirstView })

/** The first view that the caller may see. */
function FirstView() {
  const agent = useAgent()
  const view = railViews.find(one => isFor(agent, one))
  return view === undefined ? <NotFound /> : <Navigate to={`${agent.home}/${view.path}`} replace />
}

const components = new Map<View, ComponentType<ViewProps>>()
const pageComponents = new Map<Page, ComponentType>()

function routeOf(view: View) {
  const route = createRoute({
    getParentRoute: () => agentRoute,
    path: view.path,
    loader: async ({ params }) => {
      const [module, agent] = await Promise.all([view.load(), loadAgent(params.agent)])
      components.set(view, module.default)
      await loadTexts()
      if (agent?.may(view.needs)) void module.prefetch?.({ agent, params })
    },
    errorComponent: ViewProblem,
    staticData: { view },
  })
  return route.update({
    component: function Shown() {
      const agent = useAgent()
      const params = route.useParams()
      // The router's own validation would keep parameters that no view declares.
      const search = readSearch(view.search ?? {}, route.useSearch())
      const Component = components.get(view)
      if (!agent.may(view.needs)) return <NeedsRole view={view} />
      return Component && <Component params={params} search={search} />
    },
  })
}

function pageRouteOf(page: Page) {
  return createRoute({
    getParentRoute: () => root,
    path: page.path,
    loader: async () => {
      pageComponents.set(page, (await page.load()).default)
      await loadTexts()
    },
    component: function Shown() {
      const Component = pageComponents.get(page)
      return Component && <Component />
    },
  })
}

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    ...pages.map(pageRouteOf),
    agentRoute.addChildren([agentStart, ...views.map(routeOf)]),
  ]),
  defaultPreload: 'intent',
  // The cache of queries decides which data are fresh.
  defaultPreloadStaleTime: 0,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: ViewProblem,
})

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    view?: View
  }
}
