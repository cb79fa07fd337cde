package treeglot;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import com.sun.net.httpserver.spi.HttpServerProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Makes every HTTP server of a Java process listen on the loopback interface only. Compiled once for Java 8 and newer:
 * javac --release 8 -g:none Loopback.java
 */
public final class Loopback extends HttpServerProvider {
  private final HttpServerProvider usual;

  public Loopback() throws ReflectiveOperationException {
    usual = (HttpServerProvider) Class.forName("sun.net.httpserver.DefaultHttpServerProvider")
        .getDeclaredConstructor().newInstance();
  }

  @Override
  public HttpServer createHttpServer(InetSocketAddress wanted, int backlog) throws IOException {
    return usual.createHttpServer(here(wanted), backlog);
  }

  @Override
  public HttpsServer createHttpsServer(InetSocketAddress wanted, int backlog) throws IOException {
    return usual.createHttpsServer(here(wanted), backlog);
  }

  private static InetSocketAddress here(InetSocketAddress wanted) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), wanted.getPort());
  }
}
