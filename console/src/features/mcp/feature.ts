import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const serversSearch = { add: 'number' } as const

const feature: Feature = {
  views: [
    defineView({
      path: 'mcp',
      search: serversSearch,
      title: { en: 'MCP servers', de: 'MCP-Server' },
      needs: 'read',
      load: () => import('./servers.tsx'),
      rail: { group: 'act', order: 1, icon: 'link', key: 'm' },
    }),
    defineView({
      path: 'mcp/$serverId',
      title: { en: 'MCP server', de: 'MCP-Server' },
      needs: 'read',
      load: () => import('./server.tsx'),
    }),
  ],
  commands: [
    {
      id: 'add-mcp-server',
      title: { en: 'Add an MCP server', de: 'MCP-Server anlegen' },
      icon: 'plus',
      needs: 'change',
      to: 'mcp?add=1',
    },
  ],
}
export default feature
