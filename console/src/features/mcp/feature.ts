import type { Feature } from '#console/shell/feature.ts'

const feature: Feature = {
  views: [
    {
      path: 'mcp',
      title: { en: 'MCP servers', de: 'MCP-Server' },
      needs: 'read',
      load: () => import('./servers.tsx'),
      rail: { group: 'act', order: 1, icon: 'link', key: 'm' },
    },
    {
      path: 'mcp/$serverId',
      title: { en: 'MCP server', de: 'MCP-Server' },
      needs: 'read',
      load: () => import('./server.tsx'),
    },
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
