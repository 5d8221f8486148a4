/** The national API and REST v1 of this service side by side: rows for the migration page, for `nfse migrar-dps`, and for the documentation. */

import { IDEMPOTENCY_HEADER } from '../base/world/idempotency.ts';
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../base/world/sent-documents.ts';
import { DPS_VERSAO } from '../fiscal/layout/dps.ts';
import type { Assunto } from '../subjects/notas/migrar-dps.ts';

/** Names of code stand between grave accents. */
export type Diferenca = { readonly titulo: string; readonly nacional: string; readonly aqui: string };

export const DIFERENCAS: Readonly<Record<Assunto, Diferenca>> = {
  endereco: {
    titulo: 'Endereço',
    nacional: '`POST /nfse`; o município é um campo da DPS',
    aqui: '`POST /{municipio}/api/v1/nfse/v101`: o município é também o começo do endereço; `integracao` é o dos ensaios. Quem não quer mudar mais nada usa `/{municipio}/SefinNacional`, que é o contrato da API nacional',
  },
  conexao: {
    titulo: 'Conexão',
    nacional: 'TLS com certificado de cliente em toda chamada',
    aqui: 'HTTPS comum; a assinatura do documento diz quem é',
  },
  envelope: {
    titulo: 'Envelope',
    nacional: 'a DPS vai em gzip e Base64, dentro de um JSON: `dpsXmlGZipB64`',
    aqui: 'o XML vai como está; ou a DPS vai num corpo JSON legível. O envelope vai a `/{municipio}/SefinNacional`',
  },
  tipo: {
    titulo: 'Content-Type',
    nacional: '`application/json`',
    aqui: '`application/xml`; `application/json` só para o corpo JSON',
  },
  versao: {
    titulo: 'Versão do leiaute',
    nacional: '`versao` 1.00 ou 1.01',
    aqui: `só ${DPS_VERSAO}; o endereço da 1.00 responde 410`,
  },
  tributacao: {
    titulo: 'Tributação do ISSQN',
    nacional: '`tribISSQN` no leiaute 1.00: 2 exportação, 3 não incidência, 4 imunidade',
    aqui: `como no ${DPS_VERSAO}: 2 imunidade (com \`tpImunidade\`), 3 exportação, 4 não incidência`,
  },
  dhEmi: {
    titulo: 'Data e hora da emissão',
    nacional: '`dhEmi` vai em toda DPS, com o relógio de quem envia',
    aqui: '`dhEmi` não se envia: é o instante em que o serviço recebe a DPS, na hora do município. Na porta nacional vai, e é conferido',
  },
  id: {
    titulo: 'Identificador',
    nacional: 'o `Id` de `infDPS` tem de ser o que se forma do conteúdo',
    aqui: 'vale o que se forma do conteúdo; ao `Id` basta ser `DPS` e dígitos',
  },
  numero: {
    titulo: 'Série e número',
    nacional: '`serie` e `nDPS` são obrigatórios',
    aqui: 'podem faltar, e o serviço numera; em produção um município novo os exige',
  },
  assinatura: {
    titulo: 'Assinatura',
    nacional: 'XML na DPS, e outra no pedido de evento; muitos programas assinam em SHA-1, com C14N inclusiva',
    aqui: `na DPS em XML, RSA-SHA256 com SHA-256 e C14N exclusiva, e só isso; a porta nacional aceita também a C14N inclusiva, e SHA-1 onde o município a permite. Em JSON vai num cabeçalho (\`${DPS_SIGNATURE_HEADER}\`, \`${EVENTO_SIGNATURE_HEADER}\`), sobre os bytes do corpo. Toda mudança numa DPS assinada pede assinatura nova`,
  },
  resposta: {
    titulo: 'Resposta',
    nacional: '201 com a nota autorizada, em `nfseXmlGZipB64`',
    aqui: '201 com `chave_acesso`, `numero_protocolo` e `xml_nfse`, sem embrulho; a autorização vem depois, e se consulta',
  },
  erros: {
    titulo: 'Erros',
    nacional: 'código, descrição e complemento',
    aqui: 'também o lugar (linha, coluna, `xpath`, `campo`), o que se esperava e a página do código',
  },
  repetida: {
    titulo: 'DPS repetida',
    nacional: 'é recusada',
    aqui: `também, com a chave da nota que já existe; e quem manda \`${IDEMPOTENCY_HEADER}\` recebe a primeira resposta de novo`,
  },
  consulta: {
    titulo: 'Consulta',
    nacional: '`GET /nfse/{chave}` e `GET /dps/{id}`, com certificado',
    aqui: 'os mesmos caminhos, depois de `/{municipio}/api/v1`; pela chave não se pede certificado',
  },
  evento: {
    titulo: 'Eventos',
    nacional: 'XML `pedRegEvento`, em `pedidoRegistroEventoXmlGZipB64`',
    aqui: 'um JSON com `tipo_evento` e os campos do tipo, em `POST /{municipio}/api/v1/nfse/{chave}/eventos`',
  },
  lote: {
    titulo: 'Lotes',
    nacional: '`LoteXmlGZipB64`, só para municípios, e de notas já emitidas',
    aqui: 'não há: cada DPS é uma requisição',
  },
};
