// java Danfse.java CHAVE                     (Java 11 ou mais novo, sem dependências)
import java.io.IOException;
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;

public class Danfse {
    public static void main(String[] args) throws Exception {
        String chave = args[0];
        String base = args.length > 1 ? args[1] : "http://127.0.0.1:8080/integracao";
        HttpClient http = HttpClient.newHttpClient();
        HttpRequest pedido = HttpRequest.newBuilder(URI.create(base + "/api/v1/danfse/" + chave))
            .timeout(Duration.ofSeconds(30)).build();
        for (int tentativa = 1; tentativa <= 8; tentativa++) {
            long espera = 0;
            try {
                HttpResponse<byte[]> resposta = http.send(pedido, BodyHandlers.ofByteArray());
                if (resposta.statusCode() == 200) {
                    Files.write(Path.of(chave + ".pdf"), resposta.body());
                    System.out.println("Gravado: " + chave + ".pdf");
                    return;
                }
                // Com Retry-After vale a pena perguntar de novo: a nota ainda não foi autorizada, ou o serviço pede um tempo.
                espera = resposta.headers().firstValueAsLong("Retry-After").orElse(0);
                if (resposta.statusCode() < 500 && espera == 0) {
                    System.err.println(new String(resposta.body(), StandardCharsets.UTF_8)); // erros: codigo, mensagem
                    System.exit(1);
                }
            } catch (IOException semResposta) {
                // Pergunta-se de novo, como depois de um 5xx.
            }
            Thread.sleep(1000 * (espera > 0 ? espera : Math.min(1 << tentativa, 60)));
        }
        System.err.println("Ainda não há PDF. Tente mais tarde.");
        System.exit(1);
    }
}
