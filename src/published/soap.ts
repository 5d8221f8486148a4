/** `docs/soap.md`: the legacy port for users of its programs, made of the tables of the port. */

import { IMPEDIMENTOS } from '../fiscal/abrasf/impedimentos.ts';
import { LOTE_RPS_MAX } from '../fiscal/abrasf/lote.ts';
import { MAPA, NAO_LEVADOS } from '../fiscal/abrasf/mapa.ts';
import { CODIGOS, MENSAGENS_MAX } from '../fiscal/abrasf/mensagens.ts';
import { NOTA } from '../fiscal/abrasf/nota.ts';
import { PROPRIAS } from '../fiscal/abrasf/proprias.ts';
import { CAMPOS_RPS, GRUPOS_DA_EXTENSAO } from '../fiscal/abrasf/rps.ts';
import { errorLink } from './errors/markdown.ts';
import { code, table } from './markdown.ts';

const INTRO = `# O serviço SOAP legado

Para programas que já falam com o serviço \`Nfes\` (ABRASF 1.00) e não vão mudar. Quem programa hoje usa a API REST.

- Endereço: \`/{municipio}/soap/nfes\`; a descrição em \`?wsdl\`, o esquema em \`?xsd=1\`.
- SOAP 1.1, document/literal, soapAction vazia; SOAP 1.2 também é lido, e respondido em 1.2.
- \`header\` e \`parameters\` são texto (escapado ou CDATA) com o documento da ABRASF; \`return\` também. Elementos no lugar do texto são lidos, e respondidos assim.
- Os elementos são achados pelo nome, em qualquer espaço de nomes; a resposta vem na forma do pedido. A um pedido no espaço de nomes da ABRASF 1.00, ou em outro que é um só, responde-se nele. A um pedido em espaços de nomes por mensagem, como os da SpeedGov (\`http://ws.speedgov.com.br/consultar_nfse_envio_v1.xsd\`), responde-se com a raiz e o que está logo abaixo dela em \`…/consultar_nfse_resposta_v1.xsd\`, e com o conteúdo de \`CompNfse\` e de \`Cancelamento\` e \`ListaMensagemRetorno\` em \`…/tipos_v1.xsd\`.
- O que difere entre as duas formas: no espaço de nomes único \`Competencia\` é data e hora, e \`Nfse\`, \`NfseCancelamento\`, \`NfseSubstituicao\` e \`Cancelamento\` têm \`versao="1.00"\`; nos da SpeedGov \`Competencia\` é uma data, \`versao\` não há, e \`DescontoCondicionado\` vem antes de \`DescontoIncondicionado\`.
- As respostas são válidas pelos esquemas das duas formas, salvo em duas coisas: falta a \`Signature\` do município, e um lote de que o ADN recusou uma parte traz \`ListaNfse\` e \`ListaMensagemRetorno\`. Onde o manual da ABRASF 1.00 e o esquema que circula diferem vale o manual: \`ConstrucaoCivil\`, \`Cancelamento\` e \`InfConfirmacaoCancelamento\`.
- Um elemento que a tabela do RPS não tem é recusado (E160), com o seu lugar e o nome mais próximo. Só dentro dos grupos da extensão de 2026 (${GRUPOS_DA_EXTENSAO.map(code).join(', ')}) o que não se conhece fica de lado.
- As regras, as datas e os valores são os da API REST. O que não está certo vem em \`ListaMensagemRetorno\`, nas palavras do modelo. Avisos o modelo não tem onde levar.
- Em produção o lote, cada RPS (até 100 num lote) ou \`InfPedidoCancelamento\` vem assinado pelo prestador: RSA-SHA256, SHA-256, C14N exclusiva. RSA-SHA1 com C14N inclusiva, e o documento inteiro (\`URI=""\`) de um lote ou pedido sem \`Id\`, só onde o município o permite. As respostas não são assinadas. No ambiente de integração nada se assina.
- \`ConsultarNfse\` e \`ConsultarNfsePorRps\`, em produção, atendem só o prestador, pelo certificado dele no TLS, salvo onde o município abre a consulta. O protocolo de um lote abre, por si, o que é dele.

## Lotes

Um lote tem até ${LOTE_RPS_MAX} RPS e é tudo ou nada: ou todos viram notas (situação 4), ou nenhum (situação 3), e as mensagens dizem por quê, até ${MENSAGENS_MAX}. O mesmo lote enviado de novo é
o mesmo protocolo, salvo se nada dele vale (situação 3, ou o ADN recusou todas as notas): então é processado outra vez, com outro protocolo. Um número de uma série se usa uma vez, qualquer que seja o tipo do RPS.
A nota vale desde que o lote está em 4; a autorização do ADN vem depois, como na API REST, e uma nota que ele recuse não vale:
\`ConsultarLoteRps\` diz E89 com o motivo, ao lado das que valem (\`ListaNfse\` e \`ListaMensagemRetorno\` na mesma resposta), \`ConsultarNfsePorRps\` também, e o
número do RPS está livre para outro lote (sem \`RpsSubstituido\`, se a nota que ele substituía já está cancelada). A inscrição municipal do lote vale para os RPS que não trazem uma.

Um RPS substitui outro uma só vez: se a nota dele já foi substituída ou cancelada, ou está sendo, o lote é recusado (E7), em qualquer ambiente.

\`ConsultarNfse\` responde até 50.000 notas de uma vez, sem páginas, que o modelo não tem; além disso diz L998. Número com o ano na frente só acha a nota desse ano.

No ambiente de integração o cabeçalho HTTP \`X-NFSe-Simular\` vale para o lote inteiro e para um cancelamento, com os valores da API REST: \`adn:rejeita=E1234\`,
\`adn:atraso=30s\`, \`adn:indisponivel=5m\`, \`adn:resposta-perdida\`. O que nele não se entende recusa o pedido (L003).

O cancelamento nomeia a nota por número, CNPJ e município: o de \`OrgaoGerador\`, em qualquer ambiente (E42). É registrado como evento, e a resposta diz que foi registrado. A nota volta com \`NfseCancelamento\` quando ele é processado: o momento em que passou a
valer, e o código que se pediu aqui (pela API REST, 1 e 2 são os mesmos, e qualquer outro motivo é 9). A nota que foi substituída traz também \`NfseSubstituicao\`, com o
número da substituta, salvo se o ADN recusou essa.
`;

export function soapMarkdown(): string {
  const parts = [
    INTRO.trimEnd(),
    '## Do RPS à DPS',
    'Caminhos abaixo de `InfRps` e de `infDPS`. O que falta a um RPS vem da extensão de 2026, onde o programa a envia, ou da correlação do município (`nfse correlacao importar`); sem nenhuma, a regra que recusa na API REST recusa aqui, com o mesmo código e a mesma data. O ambiente de integração tem uma correlação desde o início: do subitem, o primeiro código nacional; do Anexo VIII, a tributação integral onde ele a traz, e a menor NBS; para a natureza 4, a imunidade 3. O que ela acrescentou a um RPS vem em `OutrasInformacoes` da nota dele.',
    table(
      ['DPS', 'RPS', 'Como'],
      MAPA.map(({ dps, rps, como }) => [code(dps), rps.map(code).join(', '), como]),
    ),
    '### O que a DPS não leva',
    table(
      ['RPS', 'Por quê'],
      NAO_LEVADOS.map(({ rps, porque }) => [code(rps), porque]),
    ),
    '### De que não se faz DPS',
    'Quem está na tabela é recusado antes do julgamento; as linhas marcadas, só onde as regras nacionais recusam: em produção.',
    table(
      ['RPS', 'Quando', 'Código', 'O que se responde', ''],
      IMPEDIMENTOS.map(({ rps, quando, codigo, detalhe, nacional }) => [
        code(rps),
        quando,
        codigo,
        detalhe,
        nacional ? 'em produção' : '',
      ]),
    ),
    '## O RPS',
    table(
      ['Elemento', 'O que é', 'Falta', 'Malformado', ''],
      CAMPOS_RPS.map(({ path, about, falta, forma, extensao }) => [
        code(path),
        about,
        falta ?? '',
        forma?.[0] ?? '',
        extensao ? 'extensão de 2026' : '',
      ]),
    ),
    '## Da NFS-e à nota do modelo',
    'Caminhos abaixo de `InfNfse` e de `infNFSe`. `Id` é NFS e a chave de acesso.',
    table(
      ['Nota do modelo', 'NFS-e', 'Como'],
      NOTA.map(({ abrasf, de, como }) => [code(abrasf), de === '' ? '' : code(de), como ?? 'Igual.']),
    ),
    '## Mensagens',
    `Uma falta que o modelo não tem leva o código da tabela pública, sem o E quando não cabe em quatro posições: \`0310\` é ${errorLink('E0310')}, \`E802\` é ${errorLink('E802')}. Com L começam as do serviço SOAP.`,
    table(
      ['Código', 'Mensagem', 'Correção'],
      Object.entries({ ...CODIGOS, ...PROPRIAS }).map(([codigo, [mensagem, correcao]]) => [codigo, mensagem, correcao]),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}
