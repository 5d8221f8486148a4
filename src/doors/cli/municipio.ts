/** `nfse municipio …`: opening a municipality, changing what it has set, and looking at it. */
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { formatDecimal } from '../../fiscal/decimal.ts';
import { LISTAS_CSV, type ListaNome } from '../../flows/listas.ts';
import {
  alterMunicipio,
  type Configured,
  createMunicipio,
  listMunicipios,
  type MunicipioShown,
  REMOVABLE,
  removalOf,
  removeMunicipio,
  type Settings,
  showMunicipio,
} from '../../flows/municipios.ts';
import { countEventos, type EventosContados } from '../../flows/operate-eventos.ts';
import { type CliWorld, type Command, columns, type Terminal, textOf, type Values } from './command.ts';

const OPTIONS = {
  ibge: { type: 'string' },
  ambiente: { type: 'string' },
  aliquota: { type: 'string' },
  ancoras: { type: 'string' },
  revogados: { type: 'string' },
  adn: { type: 'string' },
  'adn-ca': { type: 'string' },
  'adn-certificado': { type: 'string' },
  'adn-chave': { type: 'string' },
  'adn-pfx': { type: 'string' },
  'adn-senha-arquivo': { type: 'string' },
  'regras-nacionais': { type: 'string' },
  'consulta-dps': { type: 'string' },
  'soap-sha1': { type: 'string' },
  'soap-namespace': { type: 'string' },
  'exigir-numero': { type: 'boolean' },
  'exigir-chave-no-evento': { type: 'boolean' },
  'limite-endereco': { type: 'string' },
  'limite-prestador': { type: 'string' },
  'guarda-dias': { type: 'string' },
} as const;

/** Settings that a new municipality has unless it says no. */
const SEM_PADROES = {
  'sem-exigir-numero': { type: 'boolean' },
  'sem-exigir-chave-no-evento': { type: 'boolean' },
} as const;

type Municipio = MunicipioShown['municipio'];

const POR_JANELA = '(por minuto em producao, por dia em homologacao)';

function limiteText(de: 'endereco' | 'prestador'): string {
  const [producao, homologacao] = [AMBIENTES.producao, AMBIENTES.homologacao].map(({ limites }) =>
    grouped(limites[de]),
  );
  return `${producao} em producao, ${homologacao} em homologacao`;
}

/** `padrao`: what counts where nothing is said, when a municipality is opened. */
const SETTINGS_HELP: readonly (readonly [left: string, right: string, padrao?: string])[] = [
  ['--ibge CÓDIGO', 'código IBGE do município, 7 algarismos'],
  ['--ambiente NOME', 'producao ou homologacao', 'producao'],
  ['--aliquota 5.00', 'ISS de todo serviço enquanto não há lista de serviços importada', 'a da DPS'],
  ['--ancoras PASTA', 'certificados das autoridades em que se confia, PEM', 'as raízes da ICP-Brasil'],
  ['--revogados PASTA', 'listas de certificados revogados (LCR), PEM ou DER'],
  ['--adn https://…', 'endereço do ambiente nacional'],
  ['--adn-ca ARQUIVO', 'quem assina o certificado do ADN, PEM', 'as autoridades do sistema'],
  ['--adn-certificado ARQUIVO', 'certificado do município, PEM, com que se identifica e assina'],
  ['--adn-chave ARQUIVO', 'chave privada desse certificado, PEM'],
  ['--adn-pfx ARQUIVO', 'certificado e chave num arquivo só (.pfx ou .p12), no lugar dos dois'],
  ['--adn-senha-arquivo ARQUIVO', 'arquivo com a senha na primeira linha'],
  [
    '--regras-nacionais recusar|avisar',
    'o que faz uma regra nacional que a especificação do serviço não traz',
    'recusar em producao, avisar em homologacao',
  ],
  [
    '--consulta-dps publica|parte',
    'quem lê a nota pelo identificador da DPS, e no porto SOAP por período e por RPS: todos, ou uma parte dela com o seu certificado',
    'parte em producao, publica em homologacao',
  ],
  [
    '--soap-sha1 sim|nao',
    'aceita no porto SOAP legado as assinaturas de 2008: RSA-SHA1 com C14N inclusiva, e o documento inteiro (URI="")',
    'nao',
  ],
  ['--soap-namespace URI', 'espaço de nomes da descrição do porto SOAP legado', 'o da ABRASF 1.00'],
  ['--exigir-numero', 'recusa a DPS sem nDPS (E002), para que nenhum reenvio emita uma segunda nota', 'recusa-a'],
  [
    '--exigir-chave-no-evento',
    'recusa o evento cujo corpo não diz a nota, em chave_acesso ou numero_protocolo (E002), para que o que se assinou para uma não sirva em outra',
    'recusa-o',
  ],
  ['--limite-endereco N', `documentos de um endereço de rede ${POR_JANELA}; 0 retira o limite`, limiteText('endereco')],
  ['--limite-prestador N', `documentos de um prestador ${POR_JANELA}; 0 retira o limite`, limiteText('prestador')],
  [
    '--guarda-dias N',
    'dias em que se guarda o que um ensaio (homologacao) emite; 0 guarda sempre. Em producao nada é apagado',
    `${AMBIENTES.homologacao.guardaDias}`,
  ],
];

const CREATING_HELP = SETTINGS_HELP.map(
  ([left, right, padrao]) => [left, padrao === undefined ? right : `${right} (padrão: ${padrao})`] as const,
);
const CHANGING_HELP = SETTINGS_HELP.map(([left, right]) => [left, right] as const);

const REMOVING = Object.fromEntries(REMOVABLE.map((name) => [`sem-${name}`, { type: 'boolean' as const }]));

const REMOVING_HELP: readonly (readonly [string, string])[] = [
  ['--sem-aliquota', 'vale a alíquota da DPS'],
  ['--sem-ancoras', 'volta às raízes da ICP-Brasil'],
  ['--sem-revogados', 'deixa de consultar listas de revogados'],
  ['--sem-adn', 'deixa de transmitir; as notas ficam à espera'],
  ['--sem-adn-ca', 'volta às autoridades do sistema'],
  ['--sem-regras-nacionais', 'volta ao do ambiente: recusar em producao, avisar em homologacao'],
  ['--sem-consulta-dps', 'volta ao do ambiente: parte em producao, publica em homologacao'],
  ['--sem-soap-namespace', 'volta ao da ABRASF 1.00'],
  ['--sem-limite-endereco', 'volta ao do ambiente'],
  ['--sem-limite-prestador', 'volta ao do ambiente'],
  ['--sem-guarda-dias', 'volta ao do ambiente'],
];

const SEM_PADROES_HELP: readonly (readonly [string, string])[] = [
  ['--sem-exigir-numero', 'aceita a DPS sem nDPS, e a numera'],
  ['--sem-exigir-chave-no-evento', 'aceita o evento cujo corpo não diz a nota'],
];

export const MUNICIPIO_COMMANDS: readonly Command[] = [
  {
    name: 'municipio criar',
    arguments: 'SLUG',
    summary: 'Abre um município; SLUG é o começo do seu endereço neste serviço, como sao-paulo.',
    options: { ...OPTIONS, ...SEM_PADROES },
    optionsHelp: [...CREATING_HELP, ...SEM_PADROES_HELP],
    takes: 1,
    run: (world, values, [slug]) =>
      world.registry(
        async (registry) =>
          configured(world, await createMunicipio(registry, slug!, settingsOf(values)), 'Município criado.'),
        true,
      ),
  },
  {
    name: 'municipio listar',
    arguments: '',
    summary: 'Lista os municípios.',
    options: {},
    optionsHelp: [],
    takes: 0,
    run: listar,
  },
  {
    name: 'municipio mostrar',
    arguments: 'SLUG',
    summary: 'Mostra o que um município tem configurado, e se os arquivos estão no lugar.',
    options: {},
    optionsHelp: [],
    takes: 1,
    run: (world, _values, [slug]) =>
      world.registry(async (registry) =>
        shown(world, await showMunicipio(registry, slug!), await countEventos(registry, slug!)),
      ),
  },
  {
    name: 'municipio alterar',
    arguments: 'SLUG',
    summary: 'Muda o que for indicado e deixa o resto; vale em segundos, sem reiniciar o serviço.',
    options: { ...OPTIONS, ...REMOVING },
    optionsHelp: [...CHANGING_HELP, ...REMOVING_HELP, ...SEM_PADROES_HELP],
    takes: 1,
    run: async (world, values, [slug]) => {
      if (Object.keys(values).length === 0) {
        world.err('Nada a alterar: indique ao menos uma opção. nfse municipio alterar --help mostra quais.\n');
        return 2;
      }
      return world.registry(async (registry) =>
        configured(world, await alterMunicipio(registry, slug!, settingsOf(values)), 'Município alterado.'),
      );
    },
  },
  {
    name: 'municipio excluir',
    arguments: 'SLUG',
    summary: 'Retira um município que nunca emitiu notas, com o seu cadastro e a sua lista de serviços.',
    options: { confirmar: { type: 'boolean' } },
    optionsHelp: [['--confirmar', 'retira de fato; sem ela só diz o que seria retirado']],
    takes: 1,
    run: (world, values, [slug]) => excluir(world, slug!, values.confirmar === true),
  },
];

function excluir(world: CliWorld, slug: string, isConfirmed: boolean): Promise<number> {
  return world.registry(async (registry) => {
    const removal = await removalOf(registry, slug);
    const problem =
      'problem' in removal ? removal.problem : isConfirmed ? await removeMunicipio(registry, removal) : undefined;
    if ('problem' in removal || problem !== undefined) {
      world.err(`Nada foi excluído. ${problem}\n`);
      return 1;
    }
    const { municipio, nome, prestadores, listas } = removal;
    const what = [
      `  ${municipio.ambiente}, ${municipio.codigoIbge ?? ''} ${nome ?? ''}`.trimEnd(),
      `  prestadores do cadastro      ${grouped(prestadores)}`,
      `  linhas da lista de serviços  ${grouped(listas.servicos)}`,
      ...cadastroRows(listas).map(([nome, linhas]) => `  ${nome.padEnd(27)}  ${linhas}`),
      '  Os arquivos que ele indica (âncoras, certificados) ficam onde estão.',
    ].join('\n');
    if (isConfirmed) {
      world.out(`Município ${slug} excluído:\n${what}\n`);
      return 0;
    }
    world.err(
      `Seria excluído o município ${slug}:\n${what}\nPara excluir: nfse municipio excluir ${slug} --confirmar\n`,
    );
    return 2;
  });
}

function settingsOf(values: Values): Settings {
  return {
    ibge: textOf(values, 'ibge'),
    ambiente: textOf(values, 'ambiente'),
    aliquota: textOf(values, 'aliquota'),
    ancoras: textOf(values, 'ancoras'),
    revogados: textOf(values, 'revogados'),
    adn: textOf(values, 'adn'),
    adnCa: textOf(values, 'adn-ca'),
    adnCertificado: textOf(values, 'adn-certificado'),
    adnChave: textOf(values, 'adn-chave'),
    adnPfx: textOf(values, 'adn-pfx'),
    adnSenhaArquivo: textOf(values, 'adn-senha-arquivo'),
    regrasNacionais: textOf(values, 'regras-nacionais'),
    consultaDps: textOf(values, 'consulta-dps'),
    soapSha1: textOf(values, 'soap-sha1'),
    soapNamespace: textOf(values, 'soap-namespace'),
    exigirNumero: values['exigir-numero'] === true ? true : undefined,
    exigirChaveNoEvento: values['exigir-chave-no-evento'] === true ? true : undefined,
    limiteEndereco: textOf(values, 'limite-endereco'),
    limitePrestador: textOf(values, 'limite-prestador'),
    guardaDias: textOf(values, 'guarda-dias'),
    sem: REMOVABLE.filter((name) => values[`sem-${name}`] === true),
  };
}

function configured(terminal: Terminal, result: Configured, done: string): number {
  if ('problems' in result) {
    const { problems } = result;
    terminal.err(`Nada foi gravado. ${problems.length === 1 ? 'O problema' : 'Os problemas'}:\n`);
    for (const problem of problems) terminal.err(`  ${problem}\n`);
    return 1;
  }
  const { municipio, antes, avisos, certificado } = result;
  const changes = antes === undefined ? [] : changesBetween(antes, municipio);
  if (antes !== undefined && changes.length === 0) terminal.out('Nada mudou: o município já estava assim.\n');
  else terminal.out(`${done}\n`);
  for (const line of columns(changes)) terminal.out(`${line}\n`);
  for (const [name, value] of certificadoRows(certificado)) terminal.out(`  ${name.padEnd(8)}  ${value}\n`);
  for (const aviso of avisos) terminal.out(`  aviso     ${aviso}\n`);
  terminal.out(`nfse municipio mostrar ${municipio.tenant} mostra tudo.\n`);
  return 0;
}

/** Old and new value of every setting that is another. */
function changesBetween(antes: Municipio, depois: Municipio): readonly (readonly [string, string])[] {
  const old = settingRows(antes);
  return settingRows(depois).flatMap(([name, value], place) => {
    const before = old[place]![1];
    return before === value ? [] : [[name, `${before} → ${value}`] as const];
  });
}

/** Every setting, always in the same order. Of secrets only the files that hold them are known. */
function settingRows(municipio: Municipio): readonly [string, string][] {
  const { ambiente, codigoIbge, aliquotaPadrao, confianca, adn } = municipio;
  const pfx = adn !== undefined && 'pfx' in adn.chaves ? adn.chaves.pfx : undefined;
  const pem = adn !== undefined && 'certificado' in adn.chaves ? adn.chaves : undefined;
  return [
    ['ambiente', ambiente],
    ['código IBGE', codigoIbge ?? 'qualquer um'],
    ['alíquota', aliquotaText(aliquotaPadrao)],
    ['âncoras', confianca.ancoras ?? 'raízes da ICP-Brasil'],
    ['revogados', confianca.revogados ?? 'não consultados'],
    ['ADN', adn?.url ?? 'não configurado'],
    ['CA do ADN', adn?.ca ?? (adn === undefined ? 'nenhuma' : 'autoridades do sistema')],
    ['PFX', pfx ?? 'nenhum'],
    ['certificado', pem?.certificado ?? 'nenhum'],
    ['chave', pem?.chave ?? 'nenhuma'],
    ['senha em', adn?.chaves.senhaArquivo ?? 'nenhum arquivo'],
    ...choiceRows(municipio),
  ];
}

/** What a municipality may choose, and what counts when it does not. */
function choiceRows({
  ambiente,
  regrasNacionais,
  consultaDps,
  soapSha1,
  soapNamespace,
  exigeNumero,
  exigeNotaNoEvento,
  limiteEndereco,
  limitePrestador,
  guardaDias,
}: Municipio): readonly [string, string][] {
  const settings = AMBIENTES[ambiente];
  const regras = REGRAS_TEXT[regrasNacionais ?? settings.regrasNacionais];
  const consulta = consultaDps ?? (settings.dpsQueryIsOpen ? 'publica' : 'parte');
  return [
    ['regras nacionais', regrasNacionais === undefined ? `${regras}, ${OF_AMBIENTE}` : regras],
    ['consulta da DPS', consultaDps === undefined ? `${consulta}, ${OF_AMBIENTE}` : consulta],
    ['SHA-1 no SOAP', soapSha1 === true ? 'aceito' : 'não aceito'],
    ['namespace SOAP', soapNamespace ?? 'o da ABRASF 1.00'],
    ['DPS sem número', exigeNumero === true ? 'recusada' : 'aceita, e numerada'],
    ['evento sem nota', exigeNotaNoEvento === true ? 'recusado' : 'aceito'],
    ['por endereço', limitRow(limiteEndereco, settings.limites.endereco, settings.limites.janelaS)],
    ['por prestador', limitRow(limitePrestador, settings.limites.prestador, settings.limites.janelaS)],
    ['guarda', guardaRow(guardaDias, settings.guardaDias)],
  ];
}

function limitRow(own: number | undefined, usual: number, janelaS: number): string {
  if (own === 0) return 'nenhum';
  const told = `${grouped(own ?? usual)} documentos por ${janelaS === 60 ? 'minuto' : 'dia'}`;
  return own === undefined ? `${told}, ${OF_AMBIENTE}` : told;
}

function guardaRow(own: number | undefined, usual: number | undefined): string {
  if (usual === undefined || own === 0) return 'sempre';
  return own === undefined ? `${usual} dias, ${OF_AMBIENTE}` : `${own} dias`;
}

const OF_AMBIENTE = 'como no ambiente';
const REGRAS_TEXT = { recusa: 'recusar', avisa: 'avisar' } as const;

function aliquotaText(aliquota: Municipio['aliquotaPadrao']): string {
  return aliquota === undefined ? 'a da DPS' : `${formatDecimal(aliquota)} %`;
}

async function listar(world: CliWorld): Promise<number> {
  return world.registry(async (registry) => {
    const municipios = await listMunicipios(registry);
    if (municipios.length === 0) world.out('Ainda não há municípios. Crie um: nfse municipio criar --help\n');
    const rows = municipios.map(({ tenant, ambiente, codigoIbge, nome, espera, adn }) => [
      tenant,
      ambiente,
      codigoIbge === undefined ? 'qualquer município' : `${codigoIbge} ${nome}`,
      `${notasOf(espera)} à espera`,
      ambiente === 'producao' ? `ADN ${adn?.url ?? 'não configurado'}` : '',
    ]);
    const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
    for (const row of rows) {
      world.out(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
      world.out('\n');
    }
    return 0;
  });
}

function shown(terminal: Terminal, about: MunicipioShown, eventos: EventosContados): number {
  const { municipio, nome, certificado, prestadores, listas, espera, retidas, transmissao, problems, avisos } = about;
  const { tenant, ambiente, codigoIbge, aliquotaPadrao, confianca, adn } = municipio;
  const lines: [string, string][] = [
    ['ambiente', ambiente],
    ['município', codigoIbge === undefined ? 'qualquer um (ambiente de integração)' : `${codigoIbge} ${nome}`],
    ['âncoras', confianca.ancoras ?? 'raízes da ICP-Brasil que acompanham o programa'],
    ['revogados', confianca.revogados ?? 'não consultados'],
    ...choiceRows(municipio),
    ['ADN', adn?.url ?? 'não configurado'],
  ];
  if (adn !== undefined) {
    lines.push(['CA do ADN', adn.ca ?? 'autoridades do sistema']);
    if ('pfx' in adn.chaves) lines.push(['PFX', adn.chaves.pfx]);
    else lines.push(['certificado', adn.chaves.certificado], ['chave', adn.chaves.chave]);
    if (adn.chaves.senhaArquivo !== undefined) lines.push(['senha em', adn.chaves.senhaArquivo]);
  }
  lines.push(...certificadoRows(certificado));
  lines.push(
    ['prestadores', grouped(prestadores)],
    [
      'serviços',
      listas.servicos === 0
        ? `sem lista: todo código nacional; alíquota: ${aliquotaText(aliquotaPadrao)}`
        : linhasText(listas.servicos),
    ],
    ...cadastroRows(listas),
  );
  if (espera === undefined) lines.push(['à espera', notasOf(0)]);
  else {
    const next = espera.proxima === undefined ? 'a qualquer momento' : `em ${espera.proxima}`;
    const oldest = espera.notas === 1 ? 'emitida' : 'a mais antiga emitida';
    lines.push(['à espera', `${notasOf(espera.notas)}, ${oldest} em ${espera.desde}; próxima tentativa ${next}`]);
  }
  if (retidas !== undefined) {
    lines.push([
      'retidas',
      `${notasOf(retidas.notas)}, desde ${retidas.desde}; esperam uma alíquota, e não são enviadas`,
    ]);
    for (const motivo of retidas.motivos) lines.push(['', motivo]);
  }
  lines.push(...eventosRows(tenant, eventos));
  if (transmissao !== undefined) {
    const { problema, desde, vistoEm } = transmissao;
    lines.push(['transmissão', `${problema} (desde ${desde}; visto ainda em ${vistoEm})`]);
  }
  for (const aviso of avisos) lines.push(['aviso', aviso]);
  for (const problem of problems) lines.push(['PROBLEMA', problem]);
  if (problems.length === 0 && (adn !== undefined || confianca.ancoras !== undefined)) {
    lines.push(['arquivos', 'todos no lugar e legíveis por este usuário']);
  }
  terminal.out(`${tenant}\n`);
  for (const line of columns(lines)) terminal.out(`${line}\n`);
  return problems.length === 0 ? 0 : 1;
}

function eventosRows(tenant: string, { aCaminho, comProblema }: EventosContados): readonly [string, string][] {
  const told = (counts: EventosContados['aCaminho']): string =>
    counts.map(([estado, count]) => `${estado} ${grouped(count)}`).join(', ');
  return [
    ['eventos', aCaminho.length === 0 ? 'nenhum a caminho' : `a caminho: ${told(aCaminho)}`],
    ...(comProblema.length === 0
      ? []
      : [
          ['a conferir', `${told(comProblema)}; nfse evento problemas --municipio ${tenant} os lista`] as [
            string,
            string,
          ],
        ]),
  ];
}

function certificadoRows(certificado: MunicipioShown['certificado']): readonly [string, string][] {
  if (certificado === undefined) return [];
  const { titular, documento, emissor, inicio, fim } = certificado;
  return [
    ['titular', documento === undefined ? titular : `${titular}, ${documento}`],
    ['emissor', emissor],
    ['validade', `${inicio} a ${fim}`],
  ];
}

/** The registers that the municipality keeps; of one that it does not keep nothing is said. */
function cadastroRows(listas: MunicipioShown['listas']): [string, string][] {
  const others = Object.entries(listas).filter(([nome, count]) => nome !== 'servicos' && count > 0);
  return others.map(([nome, count]) => [LISTAS_CSV[nome as ListaNome].titulo.toLowerCase(), linhasText(count)]);
}

function linhasText(count: number): string {
  return count === 1 ? '1 linha' : `${grouped(count)} linhas`;
}

function notasOf(count: number): string {
  return count === 0 ? 'nenhuma nota' : count === 1 ? '1 nota' : `${grouped(count)} notas`;
}

/** `1.000.000` */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '.');
}
