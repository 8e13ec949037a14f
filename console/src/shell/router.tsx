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
import type { Page, View } from './feature.ts'
import { isFor, pages, railViews, views } from './feature.ts'
import { NeedsRole, NotFound, ViewProblem } from './problems.tsx'

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

const components = new Map<View | Page, ComponentType>()

function routeOf(view: View) {
  return createRoute({
    getParentRoute: () => agentRoute,
    path: view.path,
    loader: async ({ params }) => {
      const id = (params as Record<string, string>).agent ?? ''
      const [module, agent] = await Promise.all([view.load(), loadAgent(id)])
      components.set(view, module.default)
      await loadTexts()
      if (agent?.may(view.needs)) void module.prefetch?.({ agent, params })
    },
    component: () => <Shown view={view} />,
    errorComponent: ViewProblem,
    staticData: { view },
  })
}

function Shown({ view }: { view: View }) {
  const agent = useAgent()
  const Component = components.get(view)
  if (!agent.may(view.needs)) return <NeedsRole view={view} />
  return Component && <Component />
}

function pageRouteOf(page: Page) {
  return createRoute({
    getParentRoute: () => root,
    path: page.path,
    loader: async () => {
      components.set(page, (await page.load()).default)
      await loadTexts()
    },
    component: function Shown() {
      const Component = components.get(page)
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
