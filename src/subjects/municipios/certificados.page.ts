/** The certificates of the municipality: the one in use, those beside it, a new one by its file, and in whom the municipality trusts. */

import { facts, field, folded, form, link, notice } from '../../base/pages/fields.ts';
import {
  type Answer,
  byHand,
  forRole,
  type InMunicipio,
  type PageShown,
  pathIn,
  type Row,
} from '../../base/pages/visit.ts';
import { showMunicipio } from '../../base/world/municipios.ts';
import { MOTIVO_MAX, type Problem } from '../../base/world/operator.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { confirmForm, findChanged, goesBack, namePessoa, readSealed, tellChanged } from '../contas/confirmacao.page.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { certificadoFacts, testeShown } from './certificado-shown.page.ts';
import {
  ADN_NACIONAL,
  deleteCertificado,
  describeTrust,
  findFileOutside,
  foreseeUso,
  type Guardado,
  JA_EM_USO,
  listGuardados,
  receiveCertificado,
  type TrustShown,
  testCertificado,
  useCertificado,
} from './certificados.ts';
import type { TesteDoAdn } from './testar-adn.ts';

export const CERTIFICADOS_PATH = '/municipio/certificados';
const HERE = 'municipio';

/** The result of the last act. */
type Said = { readonly refused?: Problem; readonly teste?: TesteDoAdn };

async function certificadosPage(call: InMunicipio, said: Said = {}): Promise<PageShown> {
  const { world, slug } = call;
  const [{ certificado, municipio }, guardados, trust] = await Promise.all([
    showMunicipio(world, slug, 'painel'),
    listGuardados(world, slug),
    describeTrust(world, slug),
  ]);
  const used = guardados.find(({ isEmUso }) => isEmUso);
  const current = used === undefined ? certificado : used.certificado;
  const beside = guardados.filter(({ isEmUso }) => !isEmUso);
  const outside = await findFileOutside(world, municipio);
  const { refused, teste } = said;
  return {
    title: 'Certificados',
    here: HERE,
    ...(refused === undefined ? {} : { status: 422 }),
    main: html`${refused === undefined ? undefined : notice('erro', refused.problem)}${teste === undefined ? undefined : testeShown(teste)}<p>Com o certificado o município assina as notas e se identifica ao ADN.
${municipio.ambiente === 'homologacao' ? 'Em homologação nada se assina nem se transmite: aqui só se experimenta.' : undefined}</p>
<h2>Em uso</h2>
${current === undefined ? html`<p>Nenhum que se possa ler nesta máquina.</p>` : certificadoFacts(current)}${
  outside === undefined
    ? undefined
    : html`<p class="quieto">Os arquivos dele foram postos por comando, e não por esta página: <code>${outside}</code>. Quando outro entra em uso, eles ficam
onde estão, fora da lista abaixo; quem os põe de volta é quem opera o serviço.</p>
`
}<h2>Ao lado</h2>
${beside.length === 0 ? html`<p>Nenhum. Um certificado enviado fica aqui, sem efeito, até que alguém o ponha em uso.</p>` : beside.map((one) => besideOne(call, one, municipio.adn === undefined))}<h2>Enviar outro</h2>
${sendForm(call)}<h2>Em quem se confia</h2>
${trustShown(trust)}<p>${link(pathIn(slug, '/municipio'), 'Voltar ao município')}</p>`,
  };
}

function besideOne(call: InMunicipio, guardado: Guardado, isFirst: boolean): Html {
  const { id, certificado, enviado, impedimentos, duvidas } = guardado;
  const { slug, visitor, form: sent } = call;
  const token = formTokenOf(visitor);
  const at = (act: string): string => pathIn(slug, `${CERTIFICADOS_PATH}/${id}/${act}`);
  const motivo = (of: string, required: boolean): Html =>
    field({
      name: 'motivo',
      label: 'Motivo',
      help:
        of === 'usar' && required
          ? 'Por que usá-lo, apesar do que se avisa acima. Fica no histórico.'
          : 'Fica no histórico.',
      maxlength: MOTIVO_MAX,
      required,
      value: goesBack(call) && of === 'usar' && call.params['certificado'] === id ? sent.text('motivo') : '',
      of: `${of}-${id}`,
    });
  const first = isFirst
    ? html`<p>O município ainda não transmite: com este certificado passa a transmitir a <code>${ADN_NACIONAL}</code>.</p>\n`
    : undefined;
  const use = form({
    action: at('usar'),
    token,
    fields: html`${first}${motivo('usar', duvidas.length > 0)}`,
    button: 'Continuar',
  });
  return html`<div class="cartao"><h3>${certificado === undefined ? id : `Até ${certificado.fim}`}, enviado em ${enviado}</h3>
${certificado === undefined ? undefined : certificadoFacts(certificado)}${impedimentos.map((one) => notice('erro', one))}${duvidas.map((one) => notice('aviso', one))}${form(
  {
    action: at('testar'),
    token,
    fields: html`<p>Assina uma prova e abre uma conexão com o ADN. Nada é enviado.</p>\n`,
    button: 'Testar',
  },
)}${impedimentos.length > 0 ? undefined : use}${folded(
  'Apagar este certificado',
  form({ action: at('apagar'), token, fields: motivo('apagar', true), button: 'Apagar', isGrave: true }),
)}</div>
`;
}

function sendForm({ slug, visitor }: InMunicipio): Html {
  return form({
    action: pathIn(slug, `${CERTIFICADOS_PATH}/enviar`),
    token: formTokenOf(visitor),
    hasFiles: true,
    fields: html`<p>O e-CNPJ do município, do tipo A1, no arquivo que a autoridade deu (.pfx ou .p12). Ele fica ao lado do que está em uso.
A chave é guardada nesta máquina, em arquivo que só a conta do serviço lê; a senha só abre o arquivo, e não se guarda.
Se o serviço roda em várias máquinas sem pasta comum, peça a quem o opera que leve a chave às outras antes de a pôr em uso.</p>
${field({ name: 'pfx', label: 'Arquivo .pfx ou .p12', type: 'file', required: true })}${field({
  name: 'senha',
  label: 'Senha do arquivo',
  help: 'A que se escolheu ao exportar o certificado.',
  type: 'password',
  autocomplete: 'off',
  required: true,
})}`,
    button: 'Enviar',
  });
}

function trustShown({ ancoras, listas }: TrustShown): Html {
  const lists: Inserted =
    listas === undefined
      ? 'não consultadas'
      : listas.length === 0
        ? 'a pasta não tem nenhuma'
        : html`${listas.map(({ emissor, proxima }) => html`${emissor}${proxima === undefined ? '' : `, até ${proxima}`}<br>`)}`;
  return html`${facts([
    ['Raízes', ancoras ?? 'as da ICP-Brasil, que vêm com o programa'],
    ['Listas de certificados revogados', lists],
  ])}<p class="quieto">Raízes e listas são pastas da máquina: quem as põe em dia, e as troca com <code>nfse municipio alterar</code>, é quem
opera o serviço.</p>`;
}

async function send(call: InMunicipio): Promise<Answer> {
  const { world, slug, form: sent } = call;
  const file = sent.file('pfx');
  if (file === undefined) return certificadosPage(call, { refused: { problem: 'Escolha o arquivo do certificado.' } });
  const got = await receiveCertificado(world, slug, { pfx: file.content, senha: sent.text('senha') }, byHand(call));
  if ('problem' in got) return certificadosPage(call, { refused: got });
  const recado = got.isNew
    ? 'O certificado foi guardado, ao lado do que está em uso. Teste-o antes de o pôr em uso.'
    : 'Este certificado já estava guardado.';
  return { goTo: pathIn(slug, CERTIFICADOS_PATH), recado };
}

/** The second step of the use. Undefined: it was confirmed. */
async function confirmUso(call: InMunicipio, id: string): Promise<Answer | undefined> {
  const { world, slug, form: sent } = call;
  if (goesBack(call)) return certificadosPage(call);
  const motivo = sent.text('motivo').trim();
  const [action, content] = [pathIn(slug, `${CERTIFICADOS_PATH}/${id}/usar`), { motivo }];
  const isConfirmed = readSealed(call, action, content) !== undefined;
  const uso = await foreseeUso(world, slug, id, byHand(call));
  // The second click of a double one finds the act done.
  if (isConfirmed && uso === JA_EM_USO) return { goTo: pathIn(slug, CERTIFICADOS_PATH) };
  if ('problem' in uso) return certificadosPage(call, { refused: uso });
  const { certificado, duvidas, antes, arquivoDeAntes } = uso;
  const state = { 'certificado em uso': antes ?? '' };
  const changed = findChanged(call, state);
  if (isConfirmed && changed.length === 0) return undefined;
  const { documento = 'sem CNPJ nem CPF' } = certificado;
  const asked =
    antes === undefined
      ? notice(
          'aviso',
          html`<p>Não há certificado em uso que diga o CNPJ do município. Com este o município assina como</p><p class="cartao"><b>${documento}</b></p><p>É o do município? Confira onde não se leia este certificado.</p>`,
        )
      : undefined;
  return {
    title: 'Usar este certificado?',
    here: HERE,
    ...(changed.length === 0 ? {} : { status: 409 }),
    main: html`${tellChanged(changed)}${asked}${duvidas.map((one) => notice('aviso', one))}<p>A partir de agora o município assina as notas e se identifica ao ADN com este certificado.</p>
${certificadoFacts(certificado)}${facts([
  ['Em uso até agora', antes ?? 'nenhum que se possa ler'],
  ['Arquivo do que está em uso', arquivoDeAntes],
  ['Passa a valer', 'em segundos, para as notas que se assinarem daí em diante'],
  ['Motivo', motivo || 'não se disse'],
  ['Por quem', namePessoa(call)],
])}${confirmForm(call, {
  action,
  content,
  state,
  button: antes === undefined ? 'É o CNPJ do município: usar a partir de agora' : 'Usar a partir de agora',
})}`,
  };
}

async function use(call: InMunicipio): Promise<Answer> {
  const { world, slug, params } = call;
  const id = params['certificado']!;
  const asked = await confirmUso(call, id);
  if (asked !== undefined) return asked;
  const done = await useCertificado(world, slug, id, byHand(call));
  if ('problem' in done) return certificadosPage(call, { refused: done });
  const { antes, arquivoDeAntes } = done;
  const old =
    antes === undefined
      ? '.'
      : `; o de antes continua ${arquivoDeAntes === undefined ? 'ao lado' : `em ${arquivoDeAntes}`}.`;
  return { goTo: pathIn(slug, CERTIFICADOS_PATH), recado: `O certificado está em uso a partir de agora${old}` };
}

/** An act on a certificate that was sent. */
const act = (
  path: string,
  done: string,
  handle: (call: InMunicipio, id: string) => Promise<Problem | undefined>,
): Row =>
  forRole('administracao', 'POST', `${CERTIFICADOS_PATH}/:certificado/${path}`, async (call) => {
    const refused = await handle(call, call.params['certificado']!);
    return refused === undefined
      ? { goTo: pathIn(call.slug, CERTIFICADOS_PATH), recado: done }
      : certificadosPage(call, { refused });
  });

export const CERTIFICADOS_ROUTES: readonly Row[] = [
  forRole('administracao', 'GET', CERTIFICADOS_PATH, (call) => certificadosPage(call)),
  forRole('administracao', 'POST', `${CERTIFICADOS_PATH}/enviar`, send),
  forRole('administracao', 'POST', `${CERTIFICADOS_PATH}/:certificado/testar`, async (call) => {
    const teste = await testCertificado(call.world, call.slug, call.params['certificado']!, byHand(call));
    return certificadosPage(call, 'problem' in teste ? { refused: teste } : { teste });
  }),
  forRole('administracao', 'POST', `${CERTIFICADOS_PATH}/:certificado/usar`, use),
  act('apagar', 'O certificado foi apagado, com a chave.', (call, id) =>
    deleteCertificado(call.world, call.slug, id, byHand(call)),
  ),
];
